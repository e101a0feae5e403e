/** A selection of the attacks, against a host of its own; `npm run verify` runs all of them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { HOST_ENTRY } from '../../runtime/cli/verify.ts'
import { BOUNDS } from '../../runtime/verify/judge.ts'
import { type AttackOutcome, type Report, select, verify } from '../../runtime/verify/verify.ts'

const selected = (select() ?? []).filter(({ attack }) => attack.quick)
let report: Report

/** A minute where nothing else runs; what fails on a crowded machine is tried again. */
const PATIENCE_MS = 900_000

beforeAll(async () => {
  report = await verify({ entry: HOST_ENTRY, selected, quick: true })
}, PATIENCE_MS)

describe('is contained:', () => {
  test.each(selected)('$attack.name', ({ attack }) => {
    const outcome = report.outcomes.find((one) => one.attack === attack.name) as AttackOutcome
    // How long neighbours wait is judged where nothing else runs: `npm run verify`.
    const findings = outcome.findings.filter((one) => !/ took \d+ ms( \(p99\))?$/.test(one))
    expect(findings, outcome.contained).toEqual([])
  })
})

test('all of them together leave nothing in the host', () => {
  expect(report.hostGrowthBytes).toBeLessThan(BOUNDS.growthBytes)
})
