//! The client, with its limits and its certificates.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use pirn::fs;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};

use super::transport::{Connect, Resolve};

/// Returns a client. A request fails if the connection, its own head, the head of the answer or the
/// next part of the body takes longer than `limit`; the lookup of a name has the limit of the system.
/// It trusts the certificates in the file `ca`, in PEM, or the usual ones without it. Statuses are no
/// errors, each request has a connection of its own, and no proxy is used. At most `redirects`
/// redirections are followed: more are an error, but with 0 the answer that redirects is returned.
///
/// # Errors
/// If `ca` cannot be read, or has no certificate.
pub fn agent(
    limit: Duration,
    redirects: u32,
    ca: Option<&Path>,
) -> anyhow::Result<Agent> {
    let mut tls = TlsConfig::builder();
    if let Some(path) = ca {
        let pem =
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut certs = Vec::new();
        for item in ureq::tls::parse_pem(&pem) {
            let item = item.with_context(|| format!("cannot use {}", path.display()))?;
            if let PemItem::Certificate(cert) = item {
                certs.push(Certificate::to_owned(&cert));
            }
        }
        ensure!(!certs.is_empty(), "no certificate in {}", path.display());
        tls = tls.root_certs(RootCerts::new_with_certs(&certs));
    }
    let limit = Some(limit);
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .timeout_connect(limit)
        .timeout_send_request(limit)
        .timeout_recv_response(limit)
        .timeout_per_read(limit)
        .http_status_as_error(false)
        .max_redirects(redirects)
        .max_redirects_will_error(redirects > 0)
        // The transport does not know it.
        .proxy(None)
        .max_idle_connections(0)
        .build();
    Ok(Agent::with_parts(config, Connect::chained(), Resolve))
}
