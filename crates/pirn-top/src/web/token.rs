//! The token that a request must contain: other users of the machine can connect to the port.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

/// 128 random bits, as text.
pub(super) struct Token(String);

impl Token {
    /// Returns a new one.
    ///
    /// # Errors
    /// The system's error if it has no random numbers.
    pub(super) fn new() -> io::Result<Token> {
        let mut bits = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bits)?;
        Ok(Token(
            bits.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Returns true if the query of a URL contains the token. The time depends only on lengths.
    pub(super) fn is_in(&self, query: &str) -> bool {
        let mut values = query
            .split('&')
            .filter_map(|part| part.strip_prefix("token="));
        values.any(|value| {
            let pairs = value.bytes().zip(self.0.bytes());
            let differing = pairs.fold(0, |bits, (a, b)| bits | (a ^ b));
            value.len() == self.0.len() && differing == 0
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn only_the_whole_token_is_accepted() {
        let token = Token::new().unwrap();
        let text = token.to_string();
        assert_eq!(text.len(), 32);
        assert!(token.is_in(&format!("token={text}")));
        assert!(token.is_in(&format!("n=3&token={text}")));
        for wrong in ["", &text[1..], &format!("{text}0"), &"0".repeat(32)] {
            assert!(!token.is_in(&format!("token={wrong}")), "{wrong}");
        }
        assert!(!token.is_in(&text));
        assert_ne!(Token::new().unwrap().to_string(), text);
    }
}
