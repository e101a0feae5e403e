/** Ids of publishers' keys as operands: one in sixty-four begins with a hyphen, as options do. */
import type { Command } from 'commander'

/** An id of a key that commander would take for options (connectors/packages/sign.ts makes them). */
const LOOKS_LIKE_OPTIONS = /^-[\w-]{21}$/

/** Has a verb take ids of keys as operands, whatever they begin with. */
export function takesKey(command: Command): Command {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => {
    const keys = args.filter((one) => LOOKS_LIKE_OPTIONS.test(one))
    const { operands, unknown } = parse(args.filter((one) => !keys.includes(one)))
    return { operands: [...operands, ...keys], unknown }
  }
  return command
}
