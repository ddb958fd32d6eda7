# SPDX-License-Identifier: MIT
# Serves metrics on a port of loopback, as systemd passes one, and makes one of
# the checks below: listen.py NCCLSTAT CHECK. Expects a job that runs, of the
# batch job 4711.
import os
import signal
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request


def get(port, host=None, timeout=20):
    """Returns the status and the text of an answer."""
    request = urllib.request.Request("http://127.0.0.1:%d/metrics" % port)
    if host:
        request.add_header("Host", host)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def answers(port):
    status, text = get(port)
    assert status == 200 and "ncclstat_rank_alive" in text, text


def slow_clients(port):
    """16 clients that send a byte now and then keep nobody waiting."""
    answers(port)
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(16)]
    for client in clients:
        client.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
    for _ in range(3):
        for client in clients:
            try:
                client.sendall(b"x")
            except OSError:
                pass
        assert get(port, timeout=5)[0] == 200
        time.sleep(0.2)


def hosts(port):
    """A page whose name resolves to loopback gets nothing."""
    for host in "localhost", "127.0.0.1:%d" % port, "[::1]:1":
        assert get(port, host)[0] == 200, host
    for host in "evil.example", "evil.example:%d" % port, "10.0.0.1":
        status, text = get(port, host)
        assert status == 421 and "ncclstat_" not in text, (host, text)


def names(port):
    """Hosts that were named are answered."""
    for host in "node7", "front.example:443":
        assert get(port, host)[0] == 200, host
    assert get(port, "evil.example")[0] == 421


def hides(port, said):
    """What users choose is left out, and what others can read is said."""
    text = get(port)[1]
    assert "ncclstat_rank_info{" in text, text
    assert '"4711"' not in text and 'pod="p' not in text, text
    assert 'node="%s"' % socket.gethostname() in text, text
    assert "all users of this machine" in said() and "--user-names" in said()


def shows(port, said):
    """It is there if it is asked for."""
    text = get(port)[1]
    assert 'job_id="4711"' in text and 'pod="p\\"0"' in text, text
    assert "all users of this machine" in said()


CHECKS = {
    "answers": (answers, []),
    "slow-clients": (slow_clients, []),
    "hosts": (hosts, []),
    "names": (names, ["--listen-name=node7,front.example"]),
    "hides": (hides, ["--metrics=all"]),
    "shows": (shows, ["--user-names"]),
}


def main():
    check, options = CHECKS[sys.argv[2]]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(errors.fileno(), 2)
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
            os.execv(sys.argv[1], [sys.argv[1], "--listen=systemd"] + options)

        def said():
            return os.pread(errors.fileno(), 65536, 0).decode()

        try:
            check(port, said) if check in (hides, shows) else check(port)
        finally:
            os.kill(child, signal.SIGTERM)
            status = os.waitpid(child, 0)[1]
        assert status == 0, status


main()
