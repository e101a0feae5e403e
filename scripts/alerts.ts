/**
 * ALERTS: events that an operator should know about, each with advice. Source of
 * scripts/deploy/keyway.rules.yml and of a part of runtime/docs/operate/monitoring.md.
 */
import { code } from './markdown.ts'

export type Alert = {
  /** PromQL expression on METRICS. */
  expr: string
  /** How long the expression must be true before the alert fires. */
  for: string
  /** critical: access or service is at risk now. warning: it will be at risk. */
  severity: 'critical' | 'warning'
  /** One line, with labels and values as Prometheus templates. */
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
    means: 'The process is not running, cannot be reached, or rejects the scrape’s token.',
    do: 'Check whether it runs (`systemctl status keyway`), and read its last log lines. A 401 means that the scrape does not send `KEYWAY_CONNECTOR_TOKEN`.',
  },
  KeywayNotReady: {
    expr: 'keyway_ready == 0',
    for: '5m',
    severity: 'critical',
    summary: '{{ $labels.instance }} is not ready',
    means:
      '`/readyz` has answered 503 for five minutes: load balancers send no requests to this host.',
    do: 'Read `waiting_for` in the response of `GET /readyz`: it names the cause.',
  },
  KeywayDatabaseAway: {
    expr: 'keyway_database_up == 0',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} cannot reach its database',
    means:
      'The core interface answers 503 and no background jobs run; connectors still answer. Metrics that are read from the database are absent, so alerts on them do not fire.',
    do: 'With `DATABASE_URL`: check that server. With the embedded database: the log says why it does not start; often its disk is full. The host reconnects without a restart.',
  },
  KeywayDatabaseCrowded: {
    expr: 'keyway_database_connections{state="waiting"} > 0',
    for: '5m',
    severity: 'warning',
    summary: '{{ $value }} queries of {{ $labels.instance }} wait for a database connection',
    means:
      'All database connections of the host have been busy for five minutes: the database is too slow for the load.',
    do: 'Look for long-running queries (`pg_stat_activity`), and check the load of the server’s disk and processor.',
  },
  KeywayClockOff: {
    expr: 'abs(keyway_clock_offset_seconds) > 2',
    for: '5m',
    severity: 'warning',
    summary: 'The clock of {{ $labels.instance }} is {{ $value }} s off its database’s',
    means:
      'Connectors, sign-ins through an identity provider and logs use the host’s clock: systems may refuse signed logins, sign-ins may expire at once, and log times are wrong. Page tokens, sessions and the end of access use the database’s clock.',
    do: 'Synchronize both machines with the same time source (`timedatectl`, chrony).',
  },
  KeywayRemovalOverdue: {
    expr: 'max by (by) (keyway_removal_oldest_seconds{by="host"}) > 3600',
    for: '5m',
    severity: 'critical',
    summary: 'Access to be removed has remained for {{ $value | humanizeDuration }}',
    means:
      'A person still has access that has ended. Its removal fails, or no background jobs run. Keyway continues to retry it.',
    do: 'Open the tasks of category DEPROVISIONING: they show the system and its error, and “retry” tries again immediately. Also check KeywayAppPaused and KeywayJobsStuck. If the removal cannot wait, remove the access in the system itself and complete the task.',
  },
  KeywayRemovalLeftToPeople: {
    expr: 'max by (by) (keyway_removal_oldest_seconds{by="people"}) > 86400',
    for: '5m',
    severity: 'warning',
    summary: 'A removal by hand has been due for {{ $value | humanizeDuration }}',
    means:
      'Access that only a person can remove (the connector cannot, or it was granted by hand) ended more than a day ago, and its task is still open.',
    do: 'Remind the assignees of open tasks of category DEPROVISIONING, or remove the access and complete the tasks.',
  },
  KeywayAppPaused: {
    expr: 'max by (app_id, connector) (keyway_app_paused_seconds) > 3600',
    for: '1m',
    severity: 'warning',
    summary:
      'The system of app {{ $labels.app_id }} ({{ $labels.connector }}) has not answered for {{ $value | humanizeDuration }}',
    means:
      'Work that needs this system waits: access is neither granted nor removed there, and syncs do not run.',
    do: '`GET /apps/{id}` shows the app, and its task APP_NOT_ANSWERING shows the system’s error. Replace expired credentials with `PUT /apps/{id}`. When the system answers again, waiting work continues automatically; “retry” on the task tries immediately.',
  },
  KeywaySyncBehind: {
    expr: 'max by (app_id, connector) (keyway_sync_behind_seconds) > 3 * max by (app_id, connector) (keyway_sync_interval_seconds)',
    for: '10m',
    severity: 'warning',
    summary:
      'App {{ $labels.app_id }} ({{ $labels.connector }}) was last synced {{ $value | humanizeDuration }} ago',
    means:
      'No sync of the app has succeeded for three intervals: accounts that were added to its system or removed from it are not noticed.',
    do: '`keyway syncs` shows the error, and the task SYNC_ERROR says what to do. A STOPPED run waits for `keyway sync-accept`.',
  },
  KeywayJobsStuck: {
    expr: 'max by (queue) (keyway_job_oldest_due_seconds) > 900',
    for: '5m',
    severity: 'critical',
    summary: 'A job of queue {{ $labels.queue }} has been due for {{ $value | humanizeDuration }}',
    means: 'No host runs the jobs of this queue: all slots are taken, or no background jobs run.',
    do: '`keyway jobs` shows running and waiting jobs. A single slow app cannot occupy all slots; if all slots stay occupied, add a host. If nothing runs, the log has the reason; a restart loses nothing.',
  },
  KeywayCoreFailing: {
    expr: `sum by (instance) (rate(keyway_core_requests_total{class="5xx",status!~"501|502"}[5m])) / sum by (instance) (rate(keyway_core_requests_total[5m])) > 0.05`,
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $value | humanizePercentage }} of the core interface’s responses on {{ $labels.instance }} are failures',
    means:
      'More than one response in twenty is a 5xx error of Keyway itself. 501 and 502, which report that another system cannot do something or failed, are not counted.',
    do: 'The label `endpoint` of `keyway_core_requests_total` shows which endpoints fail. 503 is the database. The log has a line with `err` for each 500, with the request id that the caller received.',
  },
  KeywayWorkersDying: {
    expr: 'sum by (instance) (increase(keyway_worker_ends_total{reason!="stopped"}[15m])) > 5',
    for: '0m',
    severity: 'warning',
    summary: '{{ $value }} worker processes of {{ $labels.instance }} died within 15 minutes',
    means:
      'Connectors crash or exhaust their sandbox, or the machine kills processes (out of memory). Their calls were repeated or answered with an error.',
    do: 'The label `reason` and the log message “a worker process ended” show the cause and the lane. For `memory`, check that connector; for `killed`, check the machine (`dmesg`).',
  },
  KeywayConnectorQuarantined: {
    expr: 'keyway_connectors_quarantined > 0',
    for: '0m',
    severity: 'warning',
    summary: '{{ $value }} connectors of {{ $labels.instance }} are in quarantine',
    means: 'A connector ended its worker process so often that its calls are refused for a while.',
    do: '`keyway list` shows the connector and the reason. Repair it or install the previous version; `keyway release` allows calls again.',
  },
  KeywayDiskFull: {
    expr: 'keyway_disk_free_bytes / keyway_disk_size_bytes < 0.1',
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $value | humanizePercentage }} of the disk of the {{ $labels.place }} of {{ $labels.instance }} is free',
    means: 'Without space the database stops and the core interface answers 503.',
    do: 'Free some space or enlarge the volume. Do not delete anything below the data directory. Store backups on another machine.',
  },
  KeywayNoBackup: {
    expr: 'time() - max by (instance) (keyway_last_backup_timestamp_seconds) > 2 * 86400',
    for: '1h',
    severity: 'warning',
    summary: 'The last backup of {{ $labels.instance }} is {{ $value | humanizeDuration }} old',
    means:
      'No `keyway backup` of the embedded database has succeeded in two days, or ever (then the age is counted from 1970).',
    do: 'Run `keyway backup FILE` and read its output; then check the timer that should have run it.',
  },
  KeywayMetricsUnread: {
    expr: 'sum by (instance, measure) (increase(keyway_measure_failures_total[15m])) > 3 and on (instance) keyway_database_up == 1',
    for: '0m',
    severity: 'warning',
    summary: '{{ $labels.instance }} cannot read its {{ $labels.measure }}',
    means: 'Some metrics are absent although the database answers, so alerts on them do not fire.',
    do: 'The log message “a metric could not be read” has the reason, usually a query that took more than two seconds.',
  },
  KeywaySeriesLeftOut: {
    expr: 'keyway_series_left_out > 0',
    for: '15m',
    severity: 'warning',
    summary:
      '{{ $value }} series of {{ $labels.metric }} on {{ $labels.instance }} exceed its bound',
    means:
      'There are more apps or connectors than the metric has series: alerts do not cover all of them.',
    do: 'The reference lists the bounds. A restart drops the series of counters that are no longer used.',
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
  return `# Written by scripts/docs.ts from scripts/alerts.ts; do not edit. runtime/docs/operate/monitoring.md describes each alert.
groups:
  - name: keyway
    rules:
${rules.join('\n')}
`
}

/** Returns a section for each alert, with its meaning and advice. */
export const alertSections = (): string =>
  Object.entries(ALERTS)
    .map(
      ([name, alert]) => `### ${name}

${alert.severity}, ${alert.for === '0m' ? 'immediately' : `after ${alert.for}`}: ${code(alert.expr)}

**What it means.** ${alert.means}

**What to do.** ${alert.do}`,
    )
    .join('\n\n')
