/**
 * ALERTS: events that an operator should know about, each with advice. Source of
 * scripts/deploy/keyway.rules.yml and of a part of runtime/docs/operate/monitoring.md.
 */
import { code } from './markdown.ts'

export type Alert = {
  /** PromQL expression on METRICS. */
  expr: string
  /** How long the expression has to hold. */
  for: string
  /** critical: access or service is at stake now. warning: it will be. */
  severity: 'critical' | 'warning'
  /** One line, with labels and values in the templates of Prometheus. */
  summary: string
  means: string
  do: string
}

/** Value of the label `job` of `up`: the `job_name` in the configuration of Prometheus. */
export const JOB = 'keyway'

export const ALERTS: Readonly<Record<string, Alert>> = {
  KeywayHostGone: {
    expr: `up{job="${JOB}"} == 0`,
    for: '2m',
    severity: 'critical',
    summary: '{{ $labels.instance }} does not answer /metrics',
    means: 'The process is gone, cannot be reached, or refuses the token of the scrape.',
    do: 'Look whether it runs (`systemctl status keyway`) and what its last log lines say; a 401 means that the scrape has not `KEYWAY_CONNECTOR_TOKEN`.',
  },
  KeywayNotReady: {
    expr: 'keyway_ready == 0',
    for: '5m',
    severity: 'critical',
    summary: '{{ $labels.instance }} is not ready',
    means: '`/readyz` has answered 503 for five minutes: balancers send no requests there.',
    do: 'Read `waiting_for` of `GET /readyz`: it says what it waits for.',
  },
  KeywayDatabaseAway: {
    expr: 'keyway_database_up == 0',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} does not reach its database',
    means:
      'The core interface answers 503 and nothing is done in the background; connectors still answer. All that is read from the database is absent meanwhile, so the other alerts are silent.',
    do: 'With `DATABASE_URL`: look at that server. With the embedded one: the log says why it does not start; often its disk is full. It is found again without a restart.',
  },
  KeywayDatabaseCrowded: {
    expr: 'keyway_database_connections{state="waiting"} > 0',
    for: '5m',
    severity: 'warning',
    summary: '{{ $value }} questions of {{ $labels.instance }} wait for a connection',
    means:
      'All connections of the host have been busy for five minutes: the database is too slow for what is asked.',
    do: 'Look for what runs long (`pg_stat_activity`), and whether the server’s disk or processor is full.',
  },
  KeywayClockOff: {
    expr: 'abs(keyway_clock_offset_seconds) > 2',
    for: '5m',
    severity: 'warning',
    summary: 'The clock of {{ $labels.instance }} is {{ $value }} s off its database’s',
    means:
      'Page tokens, sign-in links and sessions have times in them: with clocks apart they end early or late. Access ends by the database’s clock.',
    do: 'Have both machines follow one source (`timedatectl`, chrony).',
  },
  KeywayRemovalOverdue: {
    expr: 'max by (by) (keyway_removal_oldest_seconds{by="host"}) > 3600',
    for: '5m',
    severity: 'critical',
    summary: 'Access that has to go has been there for {{ $value | humanizeDuration }}',
    means:
      'A person still has access that has ended. Removing it fails, or nothing is done in the background. It goes on being tried.',
    do: 'Look at the tasks of category DEPROVISIONING: they say which system, what it answers, and “retry” tries it now. Look also at KeywayAppPaused and KeywayJobsStuck. Where it cannot wait, take it away in the system itself and complete the task.',
  },
  KeywayRemovalLeftToPeople: {
    expr: 'max by (by) (keyway_removal_oldest_seconds{by="people"}) > 86400',
    for: '5m',
    severity: 'warning',
    summary: 'A person was asked {{ $value | humanizeDuration }} ago to take access away',
    means:
      'Access that only people can take away (the connector cannot, or it was given by hand) has ended a day ago, and the task is still open.',
    do: 'Remind the assignees of open tasks of category DEPROVISIONING, or do it and complete them.',
  },
  KeywayAppPaused: {
    expr: 'max by (app_id, connector) (keyway_app_paused_seconds) > 3600',
    for: '1m',
    severity: 'warning',
    summary:
      'The system of app {{ $labels.app_id }} ({{ $labels.connector }}) has not answered for {{ $value | humanizeDuration }}',
    means:
      'What needs that system waits: access is neither given nor taken away there, and syncs stand still.',
    do: '`GET /apps/{id}` tells which app it is, its task APP_NOT_ANSWERING what the system says. Credentials that ended are renewed with `PUT /apps/{id}`. Once it answers, all that waited is done by itself; “retry” of the task asks it now.',
  },
  KeywaySyncBehind: {
    expr: 'max by (app_id, connector) (keyway_sync_behind_seconds) > 3 * max by (app_id, connector) (keyway_sync_interval_seconds)',
    for: '10m',
    severity: 'warning',
    summary:
      'App {{ $labels.app_id }} ({{ $labels.connector }}) was last synced {{ $value | humanizeDuration }} ago',
    means:
      'No sync of the app has ended well in three intervals: people who left its system, or came, are not seen.',
    do: '`keyway syncs` tells what went wrong, the task SYNC_ERROR what to do. A run that is STOPPED waits for `keyway sync-accept`.',
  },
  KeywayJobsStuck: {
    expr: 'max by (queue) (keyway_job_oldest_due_seconds) > 900',
    for: '5m',
    severity: 'critical',
    summary: 'A job of {{ $labels.queue }} has been due for {{ $value | humanizeDuration }}',
    means:
      'No host takes the jobs of that queue: all places are taken, or the background stands still.',
    do: '`keyway jobs` shows what runs and what waits. One app that is slow does not hold all places; where every place is taken for long, add a host. Where nothing runs, the log has why; a restart loses nothing.',
  },
  KeywayCoreFailing: {
    expr: `sum by (instance) (rate(keyway_core_requests_total{class="5xx",status!~"501|502"}[5m])) / sum by (instance) (rate(keyway_core_requests_total[5m])) > 0.05`,
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $value | humanizePercentage }} of what the core interface of {{ $labels.instance }} answers are failures',
    means:
      'More than one answer of twenty is a 5xx of Keyway’s own. 501 and 502, which say that another system cannot or did not, are not counted.',
    do: '`keyway_core_requests_total` tells by `endpoint` which. 503 is the database; each 500 has a line with `err` in the log, under the request id that its caller got.',
  },
  KeywayWorkersDying: {
    expr: 'sum by (instance) (increase(keyway_worker_ends_total{reason!="stopped"}[15m])) > 5',
    for: '0m',
    severity: 'warning',
    summary:
      '{{ $value }} worker processes of {{ $labels.instance }} died within a quarter of an hour',
    means:
      'Connectors crash or exhaust their sandbox, or the machine ends processes (out of memory). Their calls were repeated or answered with an error.',
    do: 'The `reason` label and the log’s “a worker process ended” say how and which lane; `memory` asks for a look at that connector, `killed` at the machine (`dmesg`).',
  },
  KeywayConnectorQuarantined: {
    expr: 'keyway_connectors_quarantined > 0',
    for: '0m',
    severity: 'warning',
    summary: '{{ $value }} connectors of {{ $labels.instance }} are in quarantine',
    means: 'A connector ended its worker so often that it takes no calls for a while.',
    do: '`keyway list` tells which and why. Put it right or go back a version; `keyway release` lets it take calls again.',
  },
  KeywayDiskFull: {
    expr: 'keyway_disk_free_bytes / keyway_disk_size_bytes < 0.1',
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $value | humanizePercentage }} of the disk of the {{ $labels.place }} of {{ $labels.instance }} is free',
    means: 'Without space the database stops and the core interface answers 503.',
    do: 'Make room or the volume larger. Do not delete anything below the data directory; backups are better kept elsewhere.',
  },
  KeywayNoBackup: {
    expr: 'time() - max by (instance) (keyway_last_backup_timestamp_seconds) > 2 * 86400',
    for: '1h',
    severity: 'warning',
    summary: 'The last backup of {{ $labels.instance }} is {{ $value | humanizeDuration }} old',
    means:
      'No `keyway backup` of the embedded database has succeeded in two days, or ever (then the age is counted from 1970).',
    do: 'Run `keyway backup FILE` and read what it says; then look at the timer that should have.',
  },
  KeywayMetricsUnread: {
    expr: 'sum by (instance, measure) (increase(keyway_measure_failures_total[15m])) > 3 and on (instance) keyway_database_up == 1',
    for: '0m',
    severity: 'warning',
    summary: '{{ $labels.instance }} cannot read its {{ $labels.measure }}',
    means:
      'A part of the metrics is absent although the database answers, so that alerts on it are silent.',
    do: 'The log’s “a metric could not be read” has why: mostly a question that took more than two seconds.',
  },
  KeywaySeriesLeftOut: {
    expr: 'keyway_series_left_out > 0',
    for: '15m',
    severity: 'warning',
    summary:
      '{{ $value }} series of {{ $labels.metric }} on {{ $labels.instance }} are above its bound',
    means:
      'There are more apps, or connectors, than have series of their own: alerts do not see all of them.',
    do: 'The bounds are in the reference. Counters begin at a restart with what is used then.',
  },
}

/** Returns scripts/deploy/keyway.rules.yml. */
export function rulesFile(): string {
  const rules = Object.entries(ALERTS).map(([name, alert]) =>
    [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(alert.expr)}`,
      `        for: ${alert.for}`,
      '        labels:',
      `          severity: ${alert.severity}`,
      '        annotations:',
      `          summary: ${JSON.stringify(alert.summary)}`,
      `          description: ${JSON.stringify(`${alert.means} ${alert.do}`)}`,
    ].join('\n'),
  )
  return `# Written by scripts/docs.ts from scripts/alerts.ts; do not edit. What each means: runtime/docs/operate/monitoring.md.
groups:
  - name: keyway
    rules:
${rules.join('\n')}
`
}

/** Returns a section for every alert, with its meaning and the advice. */
export const alertSections = (): string =>
  Object.entries(ALERTS)
    .map(
      ([name, alert]) => `### ${name}

${alert.severity}, after ${alert.for === '0m' ? 'the first look' : alert.for}: ${code(alert.expr)}

**What it means.** ${alert.means}

**What to do.** ${alert.do}`,
    )
    .join('\n\n')
