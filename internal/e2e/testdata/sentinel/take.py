"""take.py SENTINEL...: for each line of standard input, takes a proxy with the Python kit, and prints its id."""
import os
import sys
import time

sys.path.insert(0, os.environ["KIT"])
import redis
from proxyward_worker import Pool
from redis.sentinel import Sentinel

sentinels = [address.split(":") for address in sys.argv[1:]]
master = Sentinel(sentinels, socket_timeout=1).master_for(os.environ["MASTER"], socket_timeout=5)
pool = Pool(master, os.environ["CHECK"])
for _ in sys.stdin:
    while True:
        try:
            print(pool.lease().endpoint, flush=True)
            break
        except redis.RedisError:
            time.sleep(0.1)
