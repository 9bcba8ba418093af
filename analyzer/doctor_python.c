/* Python and PyTorch, of the command if that is Python, else of the PATH. */
#include <string.h>
#include <sys/wait.h>

#include "analyzer/doctor.h"
#include "analyzer/lane_names.h"

enum { LIMIT_MS = 5000 };

/* Imports nothing that is large: packages are only looked for. A line each. */
static const char question[] =
    "import sys, os, glob\n"
    "print(sys.executable)\n"
    "print('%d.%d.%d' % sys.version_info[:3])\n"
    "try:\n"
    "    from importlib.metadata import version\n"
    "    print(version('torch'))\n"
    "except Exception:\n"
    "    print('')\n"
    "found = [f for p in sys.path for f in sorted(glob.glob(os.path.join(\n"
    "    p, 'nvidia', 'cu*', 'lib', 'libcupti.so*')))]\n"
    "print(found[0] if found else '')\n";

void iot_doctor_python(struct iot_doctor *d)
{
    char path[4096], out[16 * 1024], option[] = "-c", text[sizeof question];
    char *argv[] = {path, option, text, NULL}, *set[] = {NULL};
    bool own = d->program_found && iot_is_python(d->program.binary);

    strcpy(text, question);
    if (own)
        strcpy(path, d->program.binary);
    else if (iot_program_in_path("python3", path)) {
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "there is no python3 in PATH");
        return;
    }
    int status = iot_doctor_run(argv, set, LIMIT_MS, out, sizeof out);
    char *rest = out, *executable = strsep(&rest, "\n"), *version = strsep(&rest, "\n"),
         *torch = strsep(&rest, "\n"), *cupti = strsep(&rest, "\n");
    if (status || !cupti) {
        iot_doctor_add(d, IOT_LEVEL_NOTE, "see what it says to: python3 -c 'import sys'",
                       "%s does not answer within %d s", path, LIMIT_MS / 1000);
        return;
    }
    snprintf(d->cupti, sizeof d->cupti, "%s", cupti);
    iot_doctor_add(d, IOT_LEVEL_OK, NULL, "%s is %s, Python %s, %s%s", path, executable, version,
                   *torch ? "PyTorch " : "without PyTorch", torch);
}
