package health

import (
	"fmt"
	"strconv"
	"strings"
)

// number is a field of INFO; 0 where there is none.
func (n Node) number(field string) int64 {
	v, _ := strconv.ParseInt(n.Info[field], 10, 64)
	return v
}

func (n Node) memory() Finding {
	used, most, machine := n.number("used_memory"), n.number("maxmemory"), n.number("total_system_memory")
	const mend = "give it more (maxmemory), or move other data away; at the limit no result can be written"
	switch {
	case used == 0:
		return warning("memory", "how much memory is used cannot be read here", "check by hand that it is far from its limit")
	case most > 0 && used >= most/10*9:
		return hurts("memory", size(used)+" of maxmemory "+size(most)+" are used", mend)
	case most > 0 && used >= most/4*3:
		return warning("memory", size(used)+" of maxmemory "+size(most)+" are used", mend)
	case most > 0:
		return ok("memory", "%s of maxmemory %s are used", size(used), size(most))
	case machine > 0 && n.number("used_memory_rss") >= machine/4*3:
		return warning("memory", fmt.Sprintf("%s of the machine's %s are used, and no maxmemory is set: the system may kill Redis", size(n.number("used_memory_rss")), size(machine)),
			"set maxmemory below what the machine has")
	}
	return ok("memory", "%s are used, without a limit", size(used))
}

// size is a number of bytes for people.
func size(bytes int64) string {
	v, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	if unit == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[unit])
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}

func (n Node) persistence() Finding {
	const mend = "appendonly yes (with appendfsync everysec)"
	const lost = "a restart begins with nothing, and pools are built anew from their lists, as candidates: histories, holds and counts are gone, and workers get nothing until the first probes have passed"
	switch {
	case n.Info["aof_enabled"] == "1":
		return ok("persistence", "the append-only file is on")
	case n.Info["aof_enabled"] == "":
		return warning("persistence", "whether it keeps its data cannot be read here", "check by hand; without it "+lost)
	case !n.Save.Known:
		return warning("persistence", "the append-only file is off; whether snapshots are taken cannot be read by this user", "check `save` by hand, or "+mend+"; without either "+lost)
	case strings.TrimSpace(n.Save.Value) == "":
		return warning("persistence", "nothing is kept: neither append-only file nor snapshots: "+lost, mend)
	}
	return ok("persistence", "snapshots are taken (save %s); what came after the last one is lost with a crash", n.Save.Value)
}

// saving is about writes to disk that fail.
func (n Node) saving() (found []Finding) {
	const mend = "look at its log and its disk"
	if n.Info["rdb_last_bgsave_status"] == "err" {
		found = append(found, hurts("saving", "the last snapshot failed: by default Redis then refuses all writes (MISCONF)", mend))
	}
	if n.Info["aof_last_write_status"] == "err" {
		found = append(found, hurts("saving", "the append-only file cannot be written: Redis refuses all writes (MISCONF)", mend))
	}
	if n.Info["loading"] == "1" {
		found = append(found, warning("saving", "it is still loading its data", "wait"))
	}
	return found
}
