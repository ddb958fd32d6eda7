/* SPDX-License-Identifier: MIT */
/* Looks at the jobs of this node, or at recordings, and prints metrics of them;
 * shared by the commands that do. Must not decide when or where to. */
#ifndef NCS_TUI_COMMANDS_METRICS_WATCH_H
#define NCS_TUI_COMMANDS_METRICS_WATCH_H

#include "analysis/metrics/metrics.h"
#include "tui/commands/commands.h"

struct ncs_stamp; /* tui/commands/dump_command.h */

struct ncs_metrics_watch {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	struct ncs_metrics metrics;
	struct ncs_metrics_look look; /* the latest */
	char said[256]; /* the latest error of the source, which was printed */
	bool keeps_ranks; /* when the source cannot be read */
};

/* Begins to watch the input's source, by its options. The source then hands
 * over records only if a metric needs them. */
void ncs_metrics_watch_init(struct ncs_metrics_watch *watch,
			    const struct ncs_command_input *input);
void ncs_metrics_watch_release(struct ncs_metrics_watch *watch);

/* Looks at the source as it is at the stamp, which is now. If it cannot be read, a
 * message is printed, once, and it has no ranks unless they are kept. Returns 0 or
 * -ENOMEM, after a message; where ranks are kept, only if they cannot be judged. */
int ncs_metrics_watch_look(struct ncs_metrics_watch *watch,
			   const struct ncs_stamp *stamp);

/* Prints the metrics of the latest look. Returns 0 or -ENOMEM, after a
 * message. */
int ncs_metrics_watch_print(struct ncs_metrics_watch *watch, FILE *file,
			    enum ncs_metric_format format);

#endif
