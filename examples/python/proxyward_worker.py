"""A worker of a proxyward pool: takes proxies from Redis and makes requests through them, with requests or httpx.

Copy this file, and the directory store/lua beside it as lua/ (or name it by PROXYWARD_LUA). It needs redis-py 4 or
later; requests and httpx only where they are used. For SOCKS proxies install requests[socks] or httpx[socks].

    pool = Pool(redis.Redis.from_url("redis://127.0.0.1:6379/0", socket_timeout=5), "catalogue")
    with session(pool) as s:                # or client(pool), for httpx
        print(s.get("https://shop.example/catalogue").status_code)

Each request takes a proxy of its own, and so does each redirect. With jobs=Jobs(limit=60, cap=1), for checks with
`jobs: true`, it counts as live until its body was read. A proxy that fails is reported, by its id: the URL with
its password goes to the HTTP library and nowhere else.
"""

import hashlib
import os
import random
import socket
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Tuple

import redis

Failure = Optional[Tuple[str, str]]  # stage and reason, in the words of docs/verdicts.md; None: it worked


class EmptyPool(Exception):
    """No proxy was free for as long as the worker waits. No request was made."""


@dataclass(frozen=True)
class Jobs:
    limit: float  # seconds after which a job counts as abandoned: longer than any request takes
    cap: int = 0  # live jobs a proxy has at most; 0: any number


def judge(status: int, headers) -> Failure:
    """Says what a response means for the proxy. Add what your target sends to proxies that it does not like."""
    return ("proxy_auth", "auth_rejected") if status == 407 else None


class Lease:
    """A proxy in use. It ends once, by done()."""

    def __init__(self, pool: "Pool", endpoint: str, url: str, token: Optional[str]):
        self.endpoint, self.url = endpoint, url  # url: a secret
        self._pool, self._token, self._over = pool, token, False

    def __repr__(self) -> str:
        return f"<Lease {self.endpoint}>"

    def done(self, failure: Failure = None) -> None:
        if not self._over:
            self._over = True
            self._pool._end(self.endpoint, self._token, failure)

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.done(failure_of(error))


class Pool:
    """The pool of one check. client is redis.Redis, a RedisCluster, or what Sentinel.master_for() gives.

    wait: how long lease() waits while no proxy is free, in s. judge(status, headers): as judge() above. worker: its
    name in reports. took(endpoint): is given the id of each proxy taken, for a log. Threads may share a Pool; give
    each a session() or client() of its own. While Redis is away take() and lease() raise redis.RedisError.
    """

    def __init__(self, client, check: str, *, prefix: str = "proxyward", jobs: Optional[Jobs] = None, wait: float = 30,
                 judge: Callable = judge, worker: Optional[str] = None, lua: Optional[str] = None,
                 took: Callable[[str], None] = lambda endpoint: None):
        self.judge, self._client, self._jobs, self._wait, self._took = judge, client, jobs, wait, took
        self._keys = f"{prefix}:{{{check}}}:"
        self._worker = worker or f"{socket.gethostname()}-{os.getpid()}"
        folder = Path(lua or os.environ.get("PROXYWARD_LUA") or Path(__file__).parent / "lua")
        try:
            self._scripts = {name: (folder / f"{name}.lua").read_bytes()
                             for name in ("allocate_url", "report", "acquire", "release")}
        except FileNotFoundError as e:
            raise FileNotFoundError(f"no {e.filename}: copy store/lua there, or name it by PROXYWARD_LUA") from None

    def take(self) -> Optional[Lease]:
        """Takes a proxy, or None: then make no request."""
        if self._jobs:
            got = self._run("acquire", ["eligible", "inflight", "jobs", "clock", "urls"],
                            [int(self._jobs.limit * 1000), self._jobs.cap])
        else:
            got = self._run("allocate_url", ["eligible", "urls"], [])
        if not got:
            return None
        self._took(got[0])
        return Lease(self, got[0], got[-1], got[1] if self._jobs else None)

    def lease(self) -> Lease:
        """Takes a proxy; while none is free it asks again, ever more rarely, for `wait` seconds: EmptyPool."""
        end, pause = time.monotonic() + self._wait, 0.05
        while True:
            taken = self.take()
            if taken:
                return taken
            left = end - time.monotonic()
            if left <= 0:
                raise EmptyPool(f"no proxy of {self._keys}eligible was free for {self._wait:g} s")
            time.sleep(min(left, pause * random.uniform(0.5, 1)))
            pause = min(pause * 2, 2)

    def _end(self, endpoint: str, token: Optional[str], failure: Failure) -> None:
        stage, reason = failure or ("", "")
        try:
            if token:
                self._run("release", ["inflight", "jobs", "engaged", "reports"],
                          [token, "failed" if failure else "", stage, reason, self._worker])
            elif failure:
                self._run("report", ["reports"],
                          [endpoint, "failed", stage, reason, self._worker, int(time.time() * 1000)])
        except redis.RedisError:
            pass  # a lost report is not worth a retry, and a job ends by its limit

    def _run(self, name: str, keys, args):
        text, names = self._scripts[name], [self._keys + k for k in keys]
        try:
            reply = self._client.evalsha(hashlib.sha1(text).hexdigest(), len(names), *names, *args)
        except redis.exceptions.NoScriptError:  # not Script(): that would need SCRIPT LOAD, which a worker may not
            reply = self._client.eval(text, len(names), *names, *args)
        return [v.decode() if isinstance(v, bytes) else v for v in reply] if isinstance(reply, list) else reply


def failure_of(error: Optional[BaseException]) -> Failure:
    """Says what an error of requests or httpx means for the proxy; None where the proxy is not to blame."""
    names = {c.__name__ for c in type(error).__mro__}
    text = str(error)
    if names & {"ConnectTimeout"}:
        return "connect", "timeout"
    if names & {"ReadTimeout"}:
        return "headers", "timeout"
    if names & {"ProxyError"} or "SOCKS" in text:
        if "407" in text or "authentication failed" in text or "Invalid username/password" in text:
            return "proxy_auth", "auth_rejected"
        return ("connect", "refused") if "refused" in text else ("tunnel", "upstream_error")
    if names & {"SSLError"} or names & {"ConnectError"} and "SSL" in text:
        return "target_tls", "tls_alert"
    if names & {"ConnectError"}:
        return "connect", "refused" if "refused" in text else "unreachable"
    if names & {"ReadError", "RemoteProtocolError", "ConnectionError", "ChunkedEncodingError"}:
        return "headers", "reset"
    return None


KEPT = 100  # proxies to which connections are kept open


def session(pool: Pool, timeout=(5, 15)):
    """A requests.Session whose requests go through the pool. timeout: to connect, and between two bytes, in s."""
    import requests
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def send(self, request, stream=False, **options):
            with pool.lease() as lease:
                options["proxies"] = {"http": lease.url, "https": lease.url}
                options["timeout"] = options.get("timeout") or timeout
                response = super().send(request, stream=stream, **options)
                if not stream:
                    response.content  # so that a body that fails counts too
                lease.done(pool.judge(response.status_code, response.headers))
                for url in list(self.proxy_manager)[:-KEPT]:
                    self.proxy_manager.pop(url).clear()
                return response

    s = requests.Session()
    s.mount("http://", Adapter())
    s.mount("https://", Adapter())
    return s


def client(pool: Pool, timeout: float = 15):
    """An httpx.Client whose requests go through the pool."""
    import httpcore
    import httpx

    class Body(httpx.SyncByteStream):
        def __init__(self, stream, lease, failure):
            self._stream, self._lease, self._failure = stream, lease, failure

        def __iter__(self):
            try:
                yield from self._stream
            except httpx.HTTPError as e:
                self._failure = self._failure or failure_of(e)
                raise

        def close(self):
            self._stream.close()
            self._lease.done(self._failure)

    class Transport(httpx.BaseTransport):
        def __init__(self):
            self._kept = OrderedDict()

        def handle_request(self, request):
            lease = pool.lease()
            try:
                if request.url.scheme == "https" and lease.url.startswith("https:") and httpcore.__version__ < "1":
                    raise httpx.UnsupportedProtocol("https pages through https proxies take httpcore 1.0.2 or later")
                response = self._through(lease.url).handle_request(request)
            except BaseException as e:
                lease.done(failure_of(e))
                raise
            failure = pool.judge(response.status_code, response.headers)
            return httpx.Response(response.status_code, headers=response.headers,
                                  stream=Body(response.stream, lease, failure), extensions=response.extensions)

        def _through(self, url):
            proxy = url.replace("socks5h:", "socks5:", 1)  # which sends names to the proxy, too
            way = self._kept.pop(url, None) or httpx.HTTPTransport(proxy=httpx.Proxy(proxy))
            self._kept[url] = way
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)[1].close()
            return way

        def close(self):
            for way in self._kept.values():
                way.close()

    return httpx.Client(transport=Transport(), timeout=timeout)


def main() -> int:
    """proxyward_worker.py URL [COUNT]: fetches a page. Settings: REDIS_URL CHECK JOB_LIMIT JOB_CAP WAIT HTTP."""
    env = os.environ.get
    jobs = Jobs(float(env("JOB_LIMIT")), int(env("JOB_CAP", "0"))) if env("JOB_LIMIT") else None
    bad, through = 0, ""

    def took(endpoint):
        nonlocal through
        through = f"through {endpoint}"

    pool = Pool(redis.Redis.from_url(env("REDIS_URL", "redis://127.0.0.1:6379/0"), socket_timeout=5),
                env("CHECK", "default"), jobs=jobs, wait=float(env("WAIT", "30")), took=took)
    with (client if env("HTTP") == "httpx" else session)(pool) as http:
        for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
            try:
                response = http.get(sys.argv[1])
                print(response.status_code, len(response.content), "bytes", through, flush=True)
            except EmptyPool as e:
                print(e, file=sys.stderr)
                return 1
            except redis.RedisError as e:
                print("Redis did not give a proxy:", type(e).__name__, file=sys.stderr)
                bad = 1
            except Exception as e:  # the text of some errors names the proxy: only the kind is told
                print(type(e).__name__, through, flush=True)
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
