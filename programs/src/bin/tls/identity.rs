//! The identity of a server, and the certificates that a client trusts.

use std::path::Path;

use anyhow::{Context as _, ensure};
use pirn::fs;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A chain of certificates and the key to the first.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certs: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

/// Creates a self-signed identity for `localhost`, and writes its certificate to a file for clients
/// to trust.
pub(crate) fn make(save: Option<&Path>) -> anyhow::Result<Identity> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made =
        rcgen::generate_simple_self_signed(names).context("cannot make a certificate")?;
    if let Some(path) = save {
        fs::write(path, made.cert.pem())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Identity {
        certs: vec![made.cert.der().clone()],
        key: PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()),
    })
}

/// Reads an identity from two files in PEM.
pub(crate) fn read(cert: &Path, key: &Path) -> anyhow::Result<Identity> {
    let pem = read_file(key)?;
    let key_read = PrivateKeyDer::from_pem_slice(&pem);
    Ok(Identity {
        certs: certs(cert)?,
        key: key_read.with_context(|| format!("no private key in {}", key.display()))?,
    })
}

/// Reads the certificates to trust.
pub(crate) fn roots(path: &Path) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for cert in certs(path)? {
        roots
            .add(cert)
            .with_context(|| format!("cannot trust {}", path.display()))?;
    }
    Ok(roots)
}

fn certs(path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let pem = read_file(path)?;
    let certs: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certs = certs.with_context(|| format!("cannot use {}", path.display()))?;
    ensure!(!certs.is_empty(), "no certificate in {}", path.display());
    Ok(certs)
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
