/** NAMED: kinds of names in arguments and options of verbs, and where the valid names are listed. */
import { Argument, Option } from 'commander'

/** Kind of name -> where the names are listed, as the end of an error message. */
export const NAMED = {
  connector: '`keyway list` shows the connectors',
  version: '`keyway show` shows the versions of a connector',
  want: '`keyway show` shows what a connector wants',
  capability: '`keyway call ID info` shows the capabilities of a connector',
  generation: '`keyway history` shows the generations',
  publisher: '`keyway publishers` shows the trusted keys',
  webhook: '`keyway webhooks list` shows the webhooks with their ids',
  run: '`keyway syncs` shows the runs',
  app: 'GET /apps lists the apps with their ids',
  review: '`keyway review list` shows the access reviews with their ids',
  user: 'GET /users lists the users',
  queue: '`keyway jobs` shows the jobs of every queue',
  state: '`keyway jobs` shows the jobs of every state',
  cause: '`keyway logs` shows the calls with every cause',
} as const
export type Named = keyof typeof NAMED

const kinds = new WeakMap<Argument | Option, Named>()

/** Creates an argument that names an object of a running host. */
export function namedArgument(kind: Named, name: string, description: string): Argument {
  const argument = new Argument(name, description)
  kinds.set(argument, kind)
  return argument
}

/** Creates an option that names an object of a running host. */
export function namedOption(kind: Named, flags: string, description: string): Option {
  const option = new Option(flags, description)
  kinds.set(option, kind)
  return option
}

/** Returns the kind of name of an argument or option, or null if it names no object of a host. */
export const namedBy = (one: Argument | Option): Named | null => kinds.get(one) ?? null
