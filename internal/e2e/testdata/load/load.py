"""load.py N: N allocations by the Python kit, and how many."""
import os
import sys
import time

sys.path.insert(0, os.environ["KIT"])
import redis
from proxyward_worker import Pool

pool = Pool(redis.Redis.from_url(os.environ["REDIS_URL"]), os.environ["CHECK"])
made = 0
while made < int(sys.argv[1]):
    if pool.take():
        made += 1
    else:
        time.sleep(0.05)
print(made)
