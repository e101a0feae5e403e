/** A selection of the attacks, against a host of its own; `npm run verify` runs all of them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { HOST_ENTRY } from '../../runtime/cli/verify.ts'
import { BOUNDS } from '../../runtime/verify/judge.ts'
import { type AttackOutcome, type Report, select, verify } from '../../runtime/verify/verify.ts'

const selected = (select() ?? []).filter(({ attack }) => attack.quick)
let report: Report

/** The run takes a minute on an idle machine; on a busy one, failing attacks are tried again. */
const PATIENCE_MS = 900_000

beforeAll(async () => {
  report = await verify({ entry: HOST_ENTRY, selected, quick: true })
}, PATIENCE_MS)

describe('the host contains', () => {
  test.each(selected)('$attack.name', ({ attack }) => {
    const outcome = report.outcomes.find((one) => one.attack === attack.name) as AttackOutcome
    // Waiting times of neighbours are checked only by `npm run verify`, where nothing else runs.
    const findings = outcome.findings.filter((one) => !/ took \d+ ms( \(p99\))?$/.test(one))
    expect(findings, outcome.contained).toEqual([])
  })
})

test('all attacks together do not make the host grow beyond its limit', () => {
  expect(report.hostGrowthBytes).toBeLessThan(BOUNDS.growthBytes)
})
