package zoo

// Places are endpoints at which nobody can be spoken to. The host FULL stands for a listener whose
// queue is full, and the names of Names for what a resolver can say.
func Places() []Behaviour {
	return append(family("places", plain, []row{
		{"nobody listens", nil, "http", "connect refused proxy"},
		{"nobody listens, TLS", nil, "https", "connect refused proxy"},
		{"nobody listens, SOCKS", nil, "socks5h", "connect refused proxy"},
		{"a multicast address", nil, "http://224.0.0.1:9", "connect unreachable proxy"},
		{"the broadcast address", nil, "http://255.255.255.255:9", "connect unreachable proxy"},
		{"a proxy whose name does not exist", nil, "http://absent.test:9", "resolve name_not_found proxy"},
		{"a proxy whose name's servers fail", nil, "http://broken.test:9", "resolve resolver_error unknown"},
		{"a resolver that cannot be asked", nil, "http://unasked.test:9", "resolve resolver_error local"},
		{"reset right after accept", ResetAtOnce, "http", "tunnel reset proxy"},
		{"closed right after accept", HangUp, "http", "tunnel reset proxy"},
		{"closed right after accept, SOCKS5", HangUp, "socks5h", "tunnel reset proxy"},
		{"closed right after accept, SOCKS4", HangUp, "socks4a", "tunnel reset proxy"},
	}), append(family("places", plain, []row{
		{"a listener with a full queue", nil, "http://FULL", "connect timeout proxy"},
		{"a resolver that keeps silent", nil, "http://mute.test:9", "resolve timeout unknown"},
	}, slow), append(family("places", "http://absent.test/", []row{
		{"a target whose name does not exist, SOCKS5", Silent, "socks5", "resolve name_not_found target"},
		{"a target whose name does not exist, SOCKS4", Silent, "socks4", "resolve name_not_found target"},
	}), family("places", plain, []row{
		{"an address that its source may not use", Silent, "http", "connect forbidden proxy"},
	}, func(b *Behaviour) { b.Guarded = true })...)...)...)
}
