/** Shared options of verbs, and the layout of their help. Does not load the verbs' code. */
import type { Command } from 'commander'
import { parseWholeNumber } from './whole-number.ts'

export type ReadFlags = { url?: string; json?: true }

export type ChangeFlags = ReadFlags & {
  reason?: string
  dryRun?: true
  expect?: number
  waitMs: number
}

/** Exit codes of all verbs. Scripts may rely on them. */
export const EXIT = { done: 0, refused: 1, usage: 2, waits: 3 } as const

const CODES = `Exit codes: ${EXIT.done} done, ${EXIT.refused} refused or failed, ${EXIT.usage} wrong usage`

type Help = {
  /** Command lines without `keyway`. */
  examples: readonly string[]
  /** Further information. */
  notes?: string
  /** Whether the verb may end with the exit code for a missing grant. */
  waits?: boolean
}

/** Adds notes, examples and exit codes to the end of a verb's help. */
export function helped(command: Command, { examples, notes, waits = false }: Help): Command {
  const parts = [
    ...(notes === undefined ? [] : [notes.trim()]),
    [
      examples.length === 1 ? 'Example:' : 'Examples:',
      ...examples.map((one) => `  keyway ${one}`),
    ].join('\n'),
    waits ? `${CODES}, ${EXIT.waits} waits for a grant.` : `${CODES}.`,
  ]
  return command.addHelpText('after', `\n${parts.join('\n\n')}`)
}

/** Adds the options of a verb with a response. */
export const answering = (command: Command): Command =>
  command.option('--json', 'print the response as JSON, even if it is a refusal')

/** Adds the options of a verb that sends requests to a host. */
export const askingHost = (command: Command): Command =>
  answering(command).option('--url <address>', 'address of the host; default: HOST and PORT')

/** Adds the options of a verb that changes what is installed. */
export const changing = (command: Command): Command =>
  askingHost(command)
    .option('--reason <text>', 'reason, which is shown in the history')
    .option('--dry-run', 'only show what would change')
    .option('--expect <generation>', 'refuse if there is a newer generation', parseWholeNumber)
    .option('--wait-ms <ms>', 'how long to wait for the other hosts', parseWholeNumber, 10_000)

/** Collects several values of one option. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** Help on how verbs find the host, and which token they use. */
export const HOST_NOTES = `Verbs that need a host reach it at HOST and PORT (default http://127.0.0.1:8080) or --url, with
KEYWAY_ADMIN_TOKEN (the operator's token, or an admin's) or the token in KEYWAY_DATA_DIR (default ./data).`

/** Help on the value of --as. */
export const AS =
  'auth or credentials, and settings, as the name of a JSON file, or as JSON, which others on this machine can see; default: ask for each value'

/** Help on the names of wants, for every verb that takes some. */
export const WANT_NOTES = `A grant is named by its kind, or by its kind and subject; keyway show lists both:
  capability create_account            offering this capability
  egress https://api.acme.example      sending requests to this origin
  login https://id.acme.example        a login that the host performs there
  clear_secret token.token             seeing this secret in its code
  limit memory_mb                      using this much of the host
  all                                  everything`
