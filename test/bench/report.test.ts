import { describe, expect, test } from 'vitest'
import { above, atLeast, below, type Findings, judge, nothing, unmeasured } from './findings.ts'
import { bar, place, type Section, sectionText, summary } from './report.ts'

const found = (findings: Partial<Findings>): Findings => ({
  judged: [],
  tables: [],
  notes: [],
  ...findings,
})
const section = (part: string, note: string): Section => ({
  part,
  title: `Part ${part}`,
  setting: 'Two cores.',
  findings: found({ notes: [note] }),
})
const HAND =
  '# Results\n\nIntroduction.\n\n<!-- by hand -->\n\n## What was tried and lost\n\nA diary.\n'

describe('the report of the benchmark', () => {
  test('a run replaces the block of the same part of an earlier run', () => {
    const first = place(HAND, section('speed', 'first run'))
    const second = place(first, section('speed', 'second run'))
    expect(second).toContain('second run')
    expect(second).not.toContain('first run')
    expect(second.match(/part: speed -->/g)).toHaveLength(2)
  })

  test('hand-written text is left unchanged', () => {
    const written = place(place(HAND, section('speed', 'a')), section('cold', 'b'))
    expect(written.startsWith('# Results\n\nIntroduction.\n')).toBe(true)
    expect(written.endsWith(HAND.slice(HAND.indexOf('<!-- by hand -->')))).toBe(true)
  })

  test('parts of other runs are left unchanged, in their original order', () => {
    const both = place(place(HAND, section('speed', 'a')), section('cold', 'b'))
    const again = place(both, section('speed', 'c'))
    expect(again.indexOf('part: speed')).toBeLessThan(again.indexOf('part: cold'))
    expect(again).toContain('\nb\n')
  })

  test('the section is appended to a text without marks', () => {
    expect(place('Words.', section('speed', 'a'))).toMatch(/^Words\.\n\n<!-- part: speed -->\n/)
  })

  test('each figure is listed with its goal and whether it is met', () => {
    const spread = { median: 0.96, min: 0.9, max: 1 }
    const text = sectionText({
      ...section('speed', ''),
      findings: found({
        judged: [
          judge('list against B', spread, atLeast(0.95)),
          judge('list against BS', spread, atLeast(0.97)),
          unmeasured('against workerd', 'npm did not answer', above(1)),
        ],
      }),
    })
    expect(text).toContain('| list against B | 0.96 (0.90–1.00) | ≥ 0.95 | met |')
    expect(text).toContain('| list against BS | 0.96 (0.90–1.00) | ≥ 0.97 | **missed** |')
    expect(text).toContain('| against workerd | not measured: npm did not answer | > 1 | - |')
  })

  test('a goal of less than a value is missed at the value itself', () => {
    const at = (median: number) => ({ median, min: median, max: median })
    expect(judge('cold', at(50), below(50, 'ms')).met).toBe(false)
    expect(judge('cold', at(49.9), below(50, 'ms')).met).toBe(true)
    expect(judge('errors', at(0), nothing, 0).met).toBe(true)
  })

  test('a cell that contains a vertical bar stays one cell', () => {
    const tables = [{ title: 'Calls', columns: ['a|b'], rows: [['c|d']] }]
    const text = sectionText({ ...section('speed', ''), findings: found({ tables }) })
    expect(text).toContain('| a\\|b |\n|---|\n| c\\|d |')
  })

  test('the summary counts the goals and names those that were missed', () => {
    const spread = { median: 2, min: 2, max: 2 }
    const findings = found({
      judged: [judge('a', spread, atLeast(1)), judge('b', spread, atLeast(3))],
    })
    expect(summary([{ ...section('speed', ''), findings }])).toBe(
      'goals: 1 met, 1 missed\n  missed: b',
    )
  })

  test('a bar has one character per tenth and a maximum length', () => {
    expect(bar(0.87)).toHaveLength(9)
    expect(bar(40)).toHaveLength(20)
  })
})
