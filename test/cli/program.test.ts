/** Rules for every verb: the content of its help, and the options that its kind requires. */
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram, verbsOf } from '../../runtime/cli/program.ts'

/**
 * `serves` runs until it is stopped. `reads` prints an answer. `changes` also has a dry run. `makes` has no
 * dry run, and its help says why.
 */
const KINDS = {
  start: 'serves',
  dev: 'serves',
  verify: 'reads',
  'audit verify': 'reads',
  check: 'reads',
  list: 'reads',
  show: 'reads',
  history: 'reads',
  diff: 'reads',
  nodes: 'reads',
  outdated: 'reads',
  publish: 'changes',
  search: 'reads',
  publishers: 'reads',
  jobs: 'reads',
  logs: 'reads',
  syncs: 'reads',
  rotation: 'changes',
  doctor: 'changes',
  'sync-accept': 'changes',
  'sync-cancel': 'changes',
  'sync-settings': 'changes',
  'login-link': 'makes',
  backup: 'changes',
  restore: 'changes',
  'users import': 'changes',
  new: 'changes',
  pack: 'changes',
  keygen: 'changes',
  sign: 'changes',
  install: 'changes',
  upgrade: 'changes',
  rollback: 'changes',
  remove: 'changes',
  disable: 'changes',
  enable: 'changes',
  release: 'changes',
  grant: 'changes',
  revoke: 'changes',
  probe: 'changes',
  trust: 'changes',
  distrust: 'changes',
  call: 'changes',
  'person evidence': 'changes',
  'person export': 'reads',
  'person erase': 'changes',
  'review list': 'reads',
  'review show': 'reads',
  'review launch': 'changes',
  'review evidence': 'changes',
  'review verify': 'reads',
  'mail show': 'reads',
  'mail test': 'makes',
  'webhooks list': 'reads',
  'webhooks show': 'reads',
  'webhooks test': 'makes',
  'webhooks add': 'changes',
  'webhooks update': 'changes',
  'webhooks remove': 'changes',
} as const

const verbs = verbsOf(createProgram())

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

const takes = (command: Command, flag: string): boolean =>
  command.options.some(({ long }) => long === flag)

test('every verb has a kind, and there are no others', () => {
  expect(verbs.map(({ name }) => name).sort()).toEqual(Object.keys(KINDS).sort())
})

describe.each(verbs)('keyway $name', ({ name, command }) => {
  const kind = KINDS[name as keyof typeof KINDS]
  const help = helpOf(command)

  test('describes what it does and its exit codes, and has an example', () => {
    expect(command.description()).toMatch(/^[a-z].*[^.]$/)
    expect(help).toMatch(/Exit codes: 0 done, 1 refused or failed, 2 wrong usage/)
    expect(help).toMatch(new RegExp(`Examples?:\\n(  keyway .*\\n)*  keyway ${name}( |\\n)`))
  })

  test('describes every argument and option', () => {
    for (const { description } of [...command.registeredArguments, ...command.options])
      expect(description).not.toBe('')
  })

  test('has --json and --dry-run as its kind requires, or says why not', () => {
    expect(takes(command, '--json')).toBe(kind !== 'serves')
    expect(takes(command, '--dry-run')).toBe(kind === 'changes')
    if (kind === 'serves') expect(help).toContain('neither --json nor --dry-run')
    if (kind === 'makes') expect(help).toContain('There is no --dry-run:')
  })

  test('has examples that use only its own options', () => {
    const examples = [...help.matchAll(/^ {2}keyway (.+)$/gm)].map(([, line]) => line ?? '')
    for (const line of examples.filter((one) => one.startsWith(name))) {
      const flags = [...line.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag ?? '')
      for (const flag of flags) expect([line, takes(command, flag)]).toEqual([line, true])
    }
  })
})

test('the overview groups every verb, and explains how a host is found and the exit codes', () => {
  const help = helpOf(createProgram())
  expect(help).not.toMatch(/^Commands:\n {2}(?!help)/m)
  expect(help).toContain('KEYWAY_ADMIN_TOKEN')
  expect(help).toContain('3 waits for a grant')
})
