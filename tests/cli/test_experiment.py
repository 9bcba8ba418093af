"""iotrace experiment: its result, what it refuses, and its GPU half with a driver of the tests'
own."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

IOTRACE, DRIVER = sys.argv.pop(1), Path(sys.argv.pop(1)).parent
IOTRACE = str(Path(IOTRACE).resolve())
RESULTS = Path("benchmarks/results/perf_io_critical_path")
KEYS = ["schema", "profile_id", "semantic_id", "run_label", "mode", "framework", "hardware",
        "storage", "workload", "metrics", "correctness", "failure", "evidence_level", "decision",
        "decision_reason"]
STORAGE = ["artifact_save", "artifact_load_warm_cache"]
GPU = ["pageable_h2d", "pinned_non_blocking_h2d", "output_d2h_and_save"]
FUNCTIONS = ["cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
             "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
             "cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemAllocHost_v2", "cuStreamCreate",
             "cuEventCreate"]
MEASURING = ["cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoH_v2", "cuEventRecord",
             "cuEventSynchronize", "cuEventElapsedTime"]
ENDING = ["cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2", "cuMemFreeHost", "cuStreamDestroy_v2",
          "cuEventDestroy_v2"]


class Experiment(unittest.TestCase):
    def setUp(self):
        # Not in memory: a cold cache needs a disk.
        folder = tempfile.TemporaryDirectory(prefix="iotrace-experiment-", dir=os.getcwd())
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_it(self, *arguments, driver=None, folder=None):
        env = dict(os.environ)
        if driver is not None:
            env |= {"LD_LIBRARY_PATH": str(folder or DRIVER.resolve()), "STANDIN_CUDA": driver}
        return subprocess.run([IOTRACE, "experiment", *arguments], cwd=self.folder, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                              check=False)

    def measure(self, mode, *more, driver=None, status=0, label="one"):
        done = self.run_it("--mode", mode, "--label", label, "--size", "1", "--repeats", "4",
                           "--warmups", "1", *more, driver=driver)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return json.loads((self.folder / RESULTS / f"perf-io_{label}.json").read_text())

    def refused(self, done, part):
        error = done.stderr.decode()
        self.assertEqual((done.returncode, error.count("\n")), (2, 1), error)
        self.assertIn(part, error)

    def test_dry_run_is_the_default(self):
        done = self.run_it()
        config = json.loads(done.stdout)
        self.assertEqual((done.returncode, config["mode"], config["workload"]["tensor_bytes"],
                          config["workload"]["elements"], config["workload"]["seed"]),
                         (0, "dry_run", 64 << 20, 16 << 20, 42))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_host(self):
        result = self.measure("host")
        self.assertEqual(list(result), KEYS)
        self.assertEqual((result["schema"], result["decision"], result["failure"],
                          result["evidence_level"], result["correctness"]["passed"]),
                         ("performance-mechanism-gpu/v1", None, None, "local_mechanism_benchmark",
                          True))
        self.assertIn("host mode", result["decision_reason"])
        self.assertEqual(list(result["metrics"]), STORAGE + GPU)
        self.assertEqual([result["metrics"][part] for part in GPU], [None] * 3)
        self.assertAlmostEqual(sum(result["metrics"][part]["share"] for part in STORAGE), 1)
        for part in STORAGE:
            row = result["metrics"][part]
            self.assertTrue(0 < row["median_ms"] <= row["p95_ms"])
        self.assertEqual(result["storage"]["temporary_files_left"], [])
        self.assertEqual([p.name for p in self.folder.iterdir()], ["benchmarks"])

    def test_cold(self):
        """On a disk the cache can be emptied, in memory it cannot, and that is said."""
        result = self.measure("host", "--cold")
        if result["failure"]:
            self.assertIn("page cache still holds", result["failure"])
        else:
            self.assertEqual(result["storage"]["cold_part"], "local_cold_cache")
            self.assertIsNone(result["metrics"]["artifact_load_cold_cache"]["share"])
        if os.path.ismount("/dev/shm"):
            with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
                result = self.measure("host", "--cold", "--folder", memory, label="two", status=2)
            self.assertIn("page cache still holds", result["failure"])
            self.assertFalse(result["correctness"]["passed"])

    def test_never_overwritten(self):
        self.measure("host")
        path = self.folder / RESULTS / "perf-io_one.json"
        before = path.read_bytes()
        self.refused(self.run_it("--mode", "host", "--label", "one"), "another --label")
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(list(path.parent.iterdir()), [path])

    def test_results_that_cannot_be_written(self):
        """It is told before anything is measured."""
        (self.folder / "file").write_text("")
        for results in ("file", "/proc/none", "x" * 300):
            with self.subTest(results=results):
                done = self.run_it("--mode", "host", "--results", results)
                self.refused(done, "another --results or --label")
                self.assertEqual(done.stdout, b"")
        self.refused(self.run_it("--mode", "host", "--label", "x" * 250), "too long")

    def test_names_of_the_result(self):
        result = self.measure("host", "--profile", "P", "--semantic-id", "S")
        self.assertEqual((result["profile_id"], result["semantic_id"]), ("P", "S"))
        result = self.measure("host", label="two")
        self.assertEqual((result["profile_id"], result["semantic_id"]),
                         ("PERF-CUDA-MECHANISM", "PERF-IO"))

    def test_files_that_cannot_be_taken_away(self):
        """Their folder is made unwritable while it measures: the result says what it left."""
        with tempfile.TemporaryDirectory(prefix="iotrace-experiment-") as top:
            files, results = Path(top) / "files", Path(top) / "results"
            user = {"user": 65534} if os.geteuid() == 0 else {}  # nothing is unwritable for root
            for folder in (files, results):
                folder.mkdir()
                folder.chmod(0o777)
            Path(top).chmod(0o755)
            run = subprocess.Popen([IOTRACE, "experiment", "--mode", "host", "--size", "4",
                                    "--repeats", "50", "--folder", files, "--results", results],
                                   cwd=top, stdout=subprocess.DEVNULL, **user)
            while run.poll() is None and not list(files.iterdir()):
                time.sleep(0.001)
            files.chmod(0o555)
            status = run.wait()
            left = [str(p) for p in files.iterdir()]
            files.chmod(0o777)
            self.assertEqual(status, 0)
            result = json.loads((results / "perf-io_local.json").read_text())
            self.assertEqual(len(left), 1)
            self.assertEqual(result["storage"]["temporary_files_left"], left)

    def test_p95_and_median(self):
        """What one run shows of the two: P95 of three is the second, of one the only one."""
        for repeats in ("1", "3"):
            done = self.run_it("--mode", "host", "--label", repeats, "--size", "1", "--repeats",
                               repeats, "--warmups", "0")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            rows = json.loads((self.folder / RESULTS / f"perf-io_{repeats}.json")
                              .read_text())["metrics"]
            for part in STORAGE:
                self.assertEqual(rows[part]["median_ms"], rows[part]["p95_ms"])

    def test_read(self):
        self.measure("host")
        done = self.run_it("--read", "one")
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0)
        for part in ("result: ", "/perf-io_one.json\n", "artifact_save", "next:", "does not prove", "correct: yes"):
            self.assertIn(part, text)
        self.refused(self.run_it("--read", "two"), "perf-io_two.json: No such file or directory;")
        (self.folder / RESULTS / "perf-io_bad.json").write_text("{}")
        self.refused(self.run_it("--read", "bad"), "not of the schema")

    def test_usage(self):
        for arguments, part in [(["--size", "0"], "--size"), (["--repeats", "0"], "--repeats"),
                                (["x"], "too much"), (["--label", "a/b"], "label"),
                                (["--mode", "gpu"], "gpu"),
                                (["--mode", "host", "--folder", "/proc/none"], "another --folder")]:
            with self.subTest(arguments=arguments):
                self.refused(self.run_it(*arguments), part)

    def test_gpu(self):
        result = self.measure("real_gpu", driver="")
        self.assertEqual((result["decision"], result["correctness"]["passed"],
                          result["hardware"]["gpu"]["name"]),
                         ("accept_pinned_h2d", True, "a stand-in"))
        self.assertAlmostEqual(sum(result["metrics"][part]["share"] for part in STORAGE + GPU), 1)
        self.assertLess(result["metrics"][GPU[1]]["median_ms"], result["metrics"][GPU[0]]["median_ms"])

    def test_gpu_decisions(self):
        self.assertEqual(self.measure("real_gpu", driver="slow")["decision"], "tune_io_path")
        result = self.measure("real_gpu", driver="wrong", status=2, label="two")
        self.assertEqual((result["decision"], result["correctness"]["passed"]),
                         ("tune_io_path", False))
        self.assertIn("not the source", result["failure"])
        result = self.measure("real_gpu", driver="lost", status=2, label="three")
        self.assertEqual((result["decision"], result["correctness"]["passed"]),
                         ("tune_io_path", False))
        self.assertIn("not the source", result["failure"])

    def test_gpu_that_fails(self):
        for name, part in [("none", "no device"), ("full", "MiB free"),
                           ("memory", "CUDA_ERROR_OUT_OF_MEMORY"),
                           *((name, "CUDA_ERROR_UNKNOWN") for name in FUNCTIONS)]:
            with self.subTest(name=name):
                self.refused(self.run_it("--mode", "real_gpu", "--size", "1", driver=name), part)
        for name in MEASURING:
            with self.subTest(name=name):
                result = self.measure("real_gpu", driver=name, status=2, label=name)
                self.assertIn("CUDA_ERROR_UNKNOWN", result["failure"])
                self.assertFalse(result["correctness"]["passed"])
        for name in ENDING:
            with self.subTest(name=name):
                self.assertTrue(self.measure("real_gpu", driver=name, label=name)["correctness"]
                                ["passed"])
        self.assertEqual(list(self.folder.iterdir()), [self.folder / "benchmarks"])

    def test_driver_that_lacks_a_function(self):
        """The names are changed in a copy of the stand-in, so that each in turn is not found."""
        whole = DRIVER.joinpath("libcuda.so.1").read_bytes()
        old = self.folder / "old"
        old.mkdir()
        for name in [*FUNCTIONS, *MEASURING, *ENDING, "cuGetErrorName"]:
            text = b"\0" + name.encode() + b"\0"
            self.assertIn(text, whole)
            old.joinpath("libcuda.so.1").write_bytes(whole.replace(text, text.upper()))
            with self.subTest(name=name):
                self.refused(self.run_it("--mode", "real_gpu", "--size", "1", driver="",
                                         folder=old), f"it has no {name};")
        old.joinpath("libcuda.so.1").write_bytes(b"no library")
        self.refused(self.run_it("--mode", "real_gpu", "--size", "1", driver="", folder=old),
                     "no CUDA driver")


if __name__ == "__main__":
    unittest.main()
