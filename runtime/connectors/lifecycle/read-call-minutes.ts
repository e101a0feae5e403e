/** Statistics for operators from the call minutes of all hosts. */
import { type SQL, sql } from 'drizzle-orm'
import type { CALL_GROUPS, CalledHost, CallStep } from '../../contract/endpoints/call-minutes.ts'
import { LATENCY_BUCKETS, percentile } from '../../contract/models/call-minutes.ts'
import type { Db } from '../../database/database.ts'

/** Maximum number of rows in an answer. */
const MAX_ROWS = 5000
/** Maximum number of hosts in an answer. */
const MAX_HOSTS = 500

type Which = { connector: string | null; capability: string | null; hours: number }

type Row = {
  at: string
  connector: string | null
  capability: string | null
  calls: string
  caller: string
  by_connector: string
  provider: string
  operator: string
  runtime: string
  buckets: (number | string)[]
  requests: string
  sent: string
  received: string
}

const within = (domainId: string, { connector, capability, hours }: Which): SQL => sql`
  domain_id = ${domainId} and minute > now() - make_interval(hours => ${hours})
  and (${connector}::text is null or connector = ${connector})
  and (${capability}::text is null or capability = ${capability})`

/** Sums of the histogram buckets. */
const BUCKETS = sql.raw(
  Array.from({ length: LATENCY_BUCKETS }, (_, at) => `sum(buckets[${at + 1}])`).join(', '),
)

/** Reads the calls by time step, oldest first. If there are too many rows, the newest are returned. */
export async function readCallMinutes(
  db: Db,
  domainId: string,
  which: Which & { stepMinutes: number; group: (typeof CALL_GROUPS)[number] | null },
): Promise<{ items: CallStep[]; more: boolean }> {
  const { group } = which
  const seconds = which.stepMinutes * 60
  const connector = group === null ? sql`null::text` : sql`connector`
  const capability = group === 'capability' ? sql`capability` : sql`null::text`
  const { rows } = await db.execute<Row>(sql`
    select floor(extract(epoch from minute) / ${seconds}::int) * ${seconds}::int as at,
      ${connector} as connector, ${capability} as capability, sum(calls) as calls,
      sum(by_caller) as caller, sum(by_connector) as by_connector, sum(by_provider) as provider,
      sum(by_operator) as operator, sum(by_runtime) as runtime, array[${BUCKETS}] as buckets,
      sum(requests) as requests, sum(sent_bytes) as sent, sum(received_bytes) as received
    from call_minutes where ${within(domainId, which)}
    group by 1, 2, 3 order by 1 desc, 2, 3 limit ${MAX_ROWS + 1}`)
  const items = rows.slice(0, MAX_ROWS).map(toStep).reverse()
  return { items, more: rows.length > MAX_ROWS }
}

function toStep(row: Row): CallStep {
  const buckets = row.buckets.map(Number)
  return {
    at: new Date(Number(row.at) * 1000).toISOString(),
    connector: row.connector,
    capability: row.capability,
    calls: Number(row.calls),
    errors: {
      caller: Number(row.caller),
      connector: Number(row.by_connector),
      provider: Number(row.provider),
      operator: Number(row.operator),
      runtime: Number(row.runtime),
    },
    buckets,
    p50_ms: percentile(buckets, 0.5),
    p95_ms: percentile(buckets, 0.95),
    p99_ms: percentile(buckets, 0.99),
    requests: Number(row.requests),
    sent_bytes: Number(row.sent),
    received_bytes: Number(row.received),
  }
}

/** Reads the hosts that requests were sent to or refused for, most used first. */
export async function readCalledHosts(
  db: Db,
  domainId: string,
  which: Omit<Which, 'capability'>,
): Promise<CalledHost[]> {
  const { rows } = await db.execute<Record<keyof CalledHost, string>>(sql`
    select connector, capability, asked.key as host, sum((asked.value ->> 0)::bigint) as requests,
      sum((asked.value ->> 1)::bigint) as refused
    from call_minutes, jsonb_each(upstream) asked
    where ${within(domainId, { ...which, capability: null })}
    group by 1, 2, 3 order by 4 desc, 5 desc, 1, 2, 3 limit ${MAX_HOSTS}`)
  return rows.map(({ connector, capability, host, requests, refused }) => ({
    ...{ connector, capability, host, requests: Number(requests), refused: Number(refused) },
  }))
}
