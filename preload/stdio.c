#include "preload/real.h"
#include "preload/wrap.h"
FILE *popen(const char *command, const char *mode){return iot_real.popen(command,mode);}
int pclose(FILE *s){return iot_real.pclose(s);}
