"""iotrace import of several recordings: what they say of themselves is kept, and must be of one run on one host."""
import unittest

from profile_of import Profile
from test_import import Case, blocking, output, run


class Together(Case):
    def together(self, *profiles):
        """Imports them, each in a file of its name."""
        files = [p.save(self.folder / name) for name, p in profiles]
        return run("import", *files, "-o", self.trace)

    def test_ranks_of_one_run(self):
        """What they say of themselves fits, and is kept."""
        ranks = [(f"node1_{10}.{k}.pt.trace.json", blocking().tells(distributedInfo={
            "backend": "nccl", "rank": k, "world_size": 2})) for k in (1, 0)]
        done = self.together(*ranks)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"of which host", done.stdout)
        run_of = self.report()["run"]
        self.assertEqual([(r["rank"], r["world_size"], r["source"]) for r in run_of["ranks"]],
                         [(0, 2, "profiler"), (1, 2, "profiler")])
        self.assertEqual(run_of["host"], "node1")

    def test_ranks_in_collectives(self):
        """A rank is named by its number, where the recording tells it."""
        for told, named in ((True, "gpu0 of process 10, rank 5: "), (False, "gpu0 of process 10: ")):
            with self.subTest(told):
                self.trace = self.folder / named[:-2]
                profile = (Profile().span(100).call("cudaLaunchKernel", 1, 2, 1)
                           .kernel(10, 20, 1, name="ncclDevKernel_AllReduce_Sum_f32"))
                report = self.imported(profile.tells(distributedInfo={"rank": 5}) if told else profile)
                self.assertEqual([r["rank"] for r in report["gpu"]["ranks"]], [5 if told else None])
                self.assertIn(named, output("report", self.trace))

    def test_recordings_that_are_not_of_one_run(self):
        """One line says which two, and why not."""
        def rank(k, **more):
            return blocking().tells(distributedInfo={"rank": k, **more})

        real = Profile(base_ns=10**18).span(1000).call("cudaMemcpyAsync", 100, 300, 1)
        cases = {
            "are both of rank 3": [("a.json", rank(3)), ("b.json", rank(3))],
            "of 2 and of 4 ranks": [("a.json", rank(0, world_size=2)), ("b.json", rank(1, world_size=4))],
            "two hosts, node1 and node2": [("node1_10.1.pt.trace.json", rank(0)),
                                           ("node2_10.2.pt.trace.json", rank(1))],
            "two hosts, a and b": [("a.json", blocking().tells(hostname="a")),
                                   ("b.json", blocking().tells(host_name="b"))],
            "have no common clock": [("a.json", blocking()), ("b.json", real)],
            "were not recorded at one time": [("a.json", real), ("b.json", Profile(base_ns=10**18 + 10**12).span(9))],
        }
        for part, profiles in cases.items():
            with self.subTest(part):
                done = self.together(*profiles)
                self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
                self.assertIn(part, done.stderr.decode())
                for name, _ in profiles:
                    self.assertIn(name, done.stderr.decode())
                self.assertFalse(self.trace.exists())

    def test_recordings_that_do_not_say(self):
        """A file's name names a host only where its process is one of the recording."""
        done = self.together(("x_9.1.pt.trace.json", blocking()), ("y_10.2.pt.trace.json", blocking()))
        self.assertEqual(done.returncode, 0)
        for part in (b"not all recordings say of which host", b"do not say when they were made"):
            self.assertIn(part, done.stdout)
        self.assertIn("is taken for granted", " ".join(self.report()["evidence"]))
        done = self.together(("x_9.1.pt.trace.json", blocking()))
        self.assertNotIn(b"note: ", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
