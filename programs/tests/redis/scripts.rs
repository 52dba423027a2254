//! Requests; their answers are compared with those of redis-server, byte for byte.
//!
//! Each script begins with an empty database, a new connection, and the protocol RESP2 or RESP3.

/// Lines of words, with the end of a script at an empty line.
pub(crate) const LINES: &str = include_str!("lines.txt");

/// Bytes.
pub(crate) const BYTES: &[&[u8]] = &[
    b"PING\r\nping hi\r\nPING a b\r\nECHO\r\nECHO a b\r\nECHO ''\r\n",
    b"GET\r\nGET a b\r\nget k\r\nSET k\r\nSET k v\r\nGeT k\r\nEXISTS k k none\r\nDEL k none k\r\n",
    b"SET k 1 NX\r\nSET k 2 NX\r\nGET k\r\nSET k 3 XX\r\nSET n 4 XX\r\nGET k\r\nGET n\r\n",
    b"SET k v NX XX\r\nSET k v XX NX\r\nSET k v NX NX\r\nSET k v FOO\r\nSET k v EX\r\n\
      SET k v EX 10 PX 10\r\nSET k v EX x FOO\r\nSET k v EX 10 EX 20 XX\r\nSET k v KEEPTTL EX 1\r\n",
    b"SET k v EX 0\r\nSET k v PX -1\r\nSET k v EX 1.5\r\nSET k v EX 9223372036854775807\r\n\
      SET k v PX 9223372036854775807\r\nGET k\r\n",
    b"SET k v EX 100\r\nSET k w KEEPTTL\r\nPERSIST k\r\nTTL k\r\nPERSIST k\r\nPERSIST none\r\n\
      SET k v EX 100\r\nSET k v\r\nTTL k\r\nPTTL k\r\nTTL none\r\nPTTL none\r\nGET k\r\n",
    b"EXPIRE none 10\r\nSET k v\r\nEXPIRE k x\r\nEXPIRE k 9223372036854775807\r\n\
      PEXPIRE k 9223372036854775807\r\nEXPIRE k -9223372036854775808\r\nEXPIRE k -1\r\nGET k\r\n\
      SET k v\r\nPEXPIRE k 0\r\nEXISTS k\r\nEXPIRE k\r\nTTL\r\n",
    b"INCR k\r\nINCR k\r\nDECR k\r\nGET k\r\nSET k abc\r\nINCR k\r\nSET k ' 1'\r\nINCR k\r\n\
      SET k 01\r\nINCR k\r\nSET k -5\r\nINCR k\r\nSET k 9223372036854775807\r\nINCR k\r\n\
      SET k -9223372036854775808\r\nDECR k\r\nGET k\r\nINCR\r\nINCR a b\r\n",
    b"INCR k\r\nEXPIRE k 100\r\nINCR k\r\nPERSIST k\r\n",
    b"DBSIZE\r\nSET a 1\r\nSET b 2\r\nDBSIZE\r\nFLUSHALL\r\nDBSIZE\r\nSELECT 0\r\nSELECT x\r\nSELECT 99\r\n",
    b"CONFIG GET save\r\nCONFIG GET appendonly\r\nCONFIG GET nothing\r\nCONFIG\r\nCONFIG GET\r\n\
      CONFIG NOTHING\r\n",
    b"NOTHING\r\nNOTHING a 'b c' d\r\n*2\r\n$3\r\nn\ro\r\n$1\r\n\n\r\n",
    b"SET 'a b' \"c\\x41\\n\\\"d\"\r\nGET \"a b\"\r\nSET q 'it\\'s'\r\nGET q\r\n  GET   q  \r\n\r\nGET q\n",
    b"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\0\xff\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n*0\r\n*-1\r\n\r\n",
    b"PING\r\n*x\r\nPING\r\n",
    b"PING\r\n*1\r\nPING\r\n",
    b"*2\r\n$4\r\nECHO\r\n:1\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$999999999\r\n",
    b"*9999999999\r\n",
    b"GET \"k\r\n",
    b"GET 'k'x\r\n",
    b"GET \"k\"x\r\n",
    b"QUIT\r\nPING\r\n",
    b"quit now\r\n",
    b"PING\r\nPOST / HTTP/1.1\r\nSET k v\r\n",
    b"SET k v\r\nHost: example\r\n\r\nGET k\r\n",
    b"MULTI\r\nhost: a\r\n",
    b"MULTI\r\nSET k v\r\nQUIT\r\nEXEC\r\n",
    b"MULTI\r\n*1\r\nPING\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$99999999999999999999\r\n",
    b"*-9\r\nPING\r\n",
    b"* 1\r\n",
    b"*\r\n",
    b"*1\r\n$\r\n",
    b"*1\r\n$4\r\nPINGxxPING\r\n",
    b"*1\r\n\r\n\r\n",
];
