package health

import (
	"fmt"
	"strconv"
	"strings"
)

// Oldest is the oldest version of Redis that has all commands.
const Oldest = "6.2"

// whole reports whether INFO says what a Redis server says of itself.
func (n Node) whole() bool { return n.Info["redis_version"] != "" }

func (n Node) version() Finding {
	v := n.Info["redis_version"]
	switch {
	case n.Info == nil:
		return warning("server", "INFO may not be read: version, eviction, persistence and memory are not known",
			"allow this user +info, or check by hand that maxmemory-policy is noeviction")
	case v == "":
		return warning("server", "its INFO tells neither version nor policy: the embedded Redis of proxyward, or a service that hides them",
			"nothing, for trying things out; with a service, check its maxmemory policy and its backups by hand")
	case older(v, Oldest):
		return hurts("version", fmt.Sprintf("Redis %s is too old: some commands came with %s", v, Oldest), "upgrade the server")
	}
	if name, own := n.Info["server_name"], n.Info["valkey_version"]; own != "" {
		return ok("version", "%s %s (as Redis %s)", name, own, v)
	}
	return ok("version", "Redis %s", v)
}

// older compares dotted numbers; what is no number is new enough.
func older(v, least string) bool {
	have, want := strings.Split(v, "."), strings.Split(least, ".")
	for i := range want {
		if i >= len(have) {
			return true
		}
		x, err := strconv.Atoi(have[i])
		y, _ := strconv.Atoi(want[i])
		if err != nil || x != y {
			return err == nil && x < y
		}
	}
	return false
}

func (f Facts) role(n Node) (found []Finding) {
	role := n.Info["role"]
	switch {
	case role == "slave" && !f.Cluster:
		found = append(found, hurts("role", "this is a read-only replica: nothing can be claimed or committed here",
			"name its master, "+n.Info["master_host"]+":"+n.Info["master_port"]+", or let sentinels name it (redis.sentinel)"))
	case n.Info["cluster_enabled"] == "1" && !f.Cluster:
		found = append(found, hurts("role", "this is a node of a cluster, reached as a single server: it has only some of the keys",
			"write redis.cluster with the addresses of some nodes, instead of redis.url"))
	case role == "slave":
		found = append(found, ok("role", "a replica"))
	}
	if role == "slave" && n.Info["master_link_status"] == "down" {
		found = append(found, warning("replication", "the link to its master is down: after a failover now it would have an old picture",
			"see whether it reaches its master, and with which user (masteruser, masterauth)"))
	}
	if role == "master" && (f.Cluster || f.Sentinel != nil) && n.Info["connected_slaves"] == "0" {
		found = append(found, warning("replication", "a master without a replica: if it dies nobody takes over", "give it a replica"))
	}
	return found
}

// Eviction says what a maxmemory-policy does to pools: their keys have no expiry.
func Eviction(policy string) (evicts, known bool) {
	switch {
	case strings.HasPrefix(policy, "allkeys-"):
		return true, true
	case policy == "noeviction", strings.HasPrefix(policy, "volatile-"):
		return false, true
	}
	return false, false
}

func (n Node) eviction() Finding {
	policy := n.Info["maxmemory_policy"]
	evicts, known := Eviction(policy)
	const mend = "redis-cli config set maxmemory-policy noeviction, and the same in redis.conf (or in the service's settings)"
	switch {
	case evicts:
		when := "once memory is full"
		if n.Info["maxmemory"] == "0" {
			when = "as soon as a maxmemory is set and reached"
		}
		return hurts("eviction", fmt.Sprintf("maxmemory-policy is %s: %s, Redis drops whole keys of a pool: records, lanes, passwords", policy, when), mend)
	case policy == "":
		return warning("eviction", "maxmemory-policy cannot be read here", "check by hand that it is noeviction")
	case !known:
		return warning("eviction", "maxmemory-policy is "+policy+", which this version does not know", "check that it never drops keys without an expiry, or: "+mend)
	case policy != "noeviction":
		return warning("eviction", "maxmemory-policy is "+policy+": it drops only keys with an expiry, and a pool has none; still, others' keys can go", mend)
	}
	return ok("eviction", "maxmemory-policy is noeviction")
}
