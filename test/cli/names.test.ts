/**
 * Runs every verb with a wrong name in place of each name that it takes: it fails, and says where the valid
 * names are. Verbs, arguments and options are read from the program itself, so new ones are covered too.
 */
import type { Argument, Command, Option } from 'commander'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProgram, verbsOf } from '../../runtime/cli/program.ts'
import { NAMED, type Named, namedBy } from '../../runtime/cli/terminal/named-arguments.ts'
import { ConfigError } from '../../runtime/config/config.ts'
import { casesFor, LISTING, packaged } from '../connectors/lifecycle/packaging.ts'
import { type Running, startRunning } from './keyway.ts'

const NOBODY = 'e2b7a9b0-0000-4000-8000-000000000000'

/** Names that do not exist. */
const WRONG: Record<Named, readonly string[]> = {
  connector: ['none', '../none', '__proto__'],
  version: ['9.9.9', 'none'],
  want: ['egress https://nobody.example', 'none'],
  capability: ['list_nothing', '../info'],
  generation: ['999'],
  publisher: ['none'],
  webhook: [NOBODY, 'none'],
  run: ['999999'],
  app: [NOBODY, 'none'],
  review: [NOBODY, 'none'],
  user: ['nobody@acme.example', 'none'],
  queue: ['none'],
  state: ['none'],
  cause: ['none', 'none:1'],
}

/** A name of each kind that exists; an error may also list these. */
const RIGHT: Record<Named, string> = {
  connector: 'acme',
  version: '1.0.0',
  want: 'capability list_accounts',
  capability: 'list_accounts',
  generation: '1',
  publisher: 'key',
  webhook: NOBODY,
  run: '1',
  app: NOBODY,
  review: NOBODY,
  user: 'admin@localhost',
  queue: 'retention',
  state: 'failed',
  cause: 'interface',
}

/** Arguments that name nothing of a host: files, folders, and names that are given to something new. */
const OTHER_ARGUMENTS = [
  'file',
  'package',
  'key',
  'directory',
  'connectors',
  'name',
  'email',
  'packages',
  'words',
]
/** Options with a value that name nothing of a host. */
const OTHER_OPTIONS = [
  ...['--url', '--reason', '--expect', '--wait-ms', '--limit', '--before', '--size', '--every'],
  ...['--as', '--request', '--record', '--name', '--set', '--signature', '--headers', '--to'],
  ...[
    '--description',
    '--type',
    '--grant',
    '--against',
    '--key',
    '--out',
    '--dir',
    '--from',
    '--family',
  ],
  ...['--only', '--head', '--sample-port', '--remove-clusters'],
  ...[
    '--deadline',
    '--reviewers',
    '--second-reviewers',
    '--on-deadline',
    '--language',
    '--registry',
    '--days',
    '--formerly',
  ],
  ...['--mirror', '--template', '--withdraw', '--restore'],
  ...['--page', '--as-of', '--offboarding'],
]
/** Verbs whose `<id>` is that of something new. */
const NEW_IDS = ['new']

/** What a verb needs in addition to its arguments. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  upgrade: ['--to', '1.0.0'],
  call: ['--as', 'good.json'],
  probe: ['--as', 'good.json'],
  'login-link': [],
  'review launch': ['--deadline', '2999-01-01'],
}

const verbs = verbsOf(createProgram())
const hidden = (name: string, one: Argument): boolean =>
  OTHER_ARGUMENTS.includes(one.name()) || (NEW_IDS.includes(name) && one.name() === 'id')

test.each(verbs)(
  'keyway $name declares the kind of name for each argument and option',
  ({ name, command }) => {
    const unknown = [
      ...command.registeredArguments.filter((one) => namedBy(one) === null && !hidden(name, one)),
      ...command.options
        .filter((one) => (one.required || one.optional) && namedBy(one) === null)
        .filter(({ long }) => !OTHER_OPTIONS.includes(long ?? '')),
    ]
    expect(unknown.map((one) => ('long' in one ? one.long : one.name()))).toEqual([])
  },
)

let host: Running

beforeAll(async () => {
  host = await startRunning()
  const capabilities = { validate_credentials: {}, list_accounts: {} }
  const made = await packaged({ capabilities }, LISTING('1.0.0'), casesFor(capabilities))
  await host.install(made)
  const envelope = { auth: { token: { token: 'a-token-of-a-tenant' } }, settings: {} }
  await host.file('good.json', envelope)
  for (const [name, value] of Object.entries(host.env)) vi.stubEnv(name, value)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await host.stop()
})

type Wrong = { line: string; args: readonly string[]; kind: Named }

/** The command lines of a verb with one wrong name, with each of its switches. */
function linesOf(name: string, command: Command): Wrong[] {
  const switches = command.options.filter((one) => one.isBoolean()).map(({ long }) => long ?? '')
  const dry = switches.includes('--dry-run') ? [['--dry-run']] : []
  const alone = switches.filter((one) => one !== '--dry-run' && one !== '--json')
  const variants = [
    [],
    ...dry,
    ...alone.map((one) => [one]),
    ...alone.flatMap((one) => dry.map((more) => [one, ...more])),
  ]
  const args = command.registeredArguments
  const right = (one: Argument) => RIGHT[namedBy(one) ?? 'connector']
  const wrongArguments = args.flatMap((one, at) =>
    wrongOf(one).map(({ value, kind }) => ({
      kind,
      words: [...args.slice(0, at).map(right), value, ...required(args.slice(at + 1)).map(right)],
    })),
  )
  const wrongOptions = command.options.flatMap((one) =>
    wrongOf(one).map(({ value, kind }) => ({
      kind,
      words: [...required(args).map(right), one.long ?? '', value],
    })),
  )
  const more = (words: readonly string[]) =>
    (MORE[name] ?? []).some((one) => words.includes(one)) ? [] : (MORE[name] ?? [])
  return [...wrongArguments, ...wrongOptions].flatMap(({ kind, words }) =>
    variants.map((flags) => {
      const all = [...name.split(' '), ...words, ...more(words), ...flags]
      return { kind, args: all, line: all.join(' ') }
    }),
  )
}

const required = (args: readonly Argument[]) => args.filter((one) => one.required)

function wrongOf(one: Argument | Option): { value: string; kind: Named }[] {
  const kind = namedBy(one)
  return kind === null ? [] : WRONG[kind].map((value) => ({ value, kind }))
}

/** Standard error, and whether the command failed. */
async function typed(args: readonly string[]): Promise<{ output: string; failed: boolean }> {
  const output: string[] = []
  const error = vi.spyOn(console, 'error').mockImplementation((text) => void output.push(`${text}`))
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const words = args.map((one) => (one === 'good.json' ? `${host.home}/good.json` : one))
    await createProgram().parseAsync(words, { from: 'user' })
    return { output: output.join('\n'), failed: (process.exitCode ?? 0) !== 0 }
  } catch (thrown) {
    // main.ts writes the message to standard error and exits with 1; anything else is a crash.
    if (!(thrown instanceof ConfigError)) throw thrown
    return { output: thrown.message, failed: true }
  } finally {
    process.exitCode = 0
    error.mockRestore()
    log.mockRestore()
  }
}

const wrong = verbs.flatMap(({ name, command }) => linesOf(name, command))

test('every kind of name is covered', () => {
  expect(new Set(wrong.map(({ kind }) => kind))).toEqual(new Set(Object.keys(NAMED)))
})

test.each(wrong)(
  'keyway $line fails, and says where the valid names are',
  async ({ args, kind }) => {
    const { output, failed } = await typed(args)
    expect(failed, output).toBe(true)
    const [, where = 'nowhere'] = /^`?(keyway [a-z ]+|GET \S+)/.exec(NAMED[kind]) ?? []
    expect(output.includes(where) || output.includes(RIGHT[kind]), output).toBe(true)
  },
)
