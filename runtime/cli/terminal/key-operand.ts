/** Ids of publishers' keys as operands: one in sixty-four begins with a hyphen, like an option. */
import type { Command } from 'commander'

/** Id of a key that commander would parse as options (created by connectors/packages/sign.ts). */
const LOOKS_LIKE_OPTIONS = /^-[\w-]{21}$/

/** Makes a verb accept ids of keys as operands, whichever character they begin with. */
export function takesKey(command: Command): Command {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => {
    const keys = args.filter((one) => LOOKS_LIKE_OPTIONS.test(one))
    const { operands, unknown } = parse(args.filter((one) => !keys.includes(one)))
    return { operands: [...operands, ...keys], unknown }
  }
  return command
}
