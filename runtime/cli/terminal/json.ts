/** JSON as commands print it. */
import { visible } from '../../observe/visible.ts'

/**
 * A value as JSON in which nothing does anything to a terminal. JSON itself escapes the control characters of ASCII alone;
 * with the others escaped too it is the same JSON.
 *
 * @param indent Spaces for a level; 0: all in one line.
 */
export const terminalJson = (value: unknown, indent = 2): string =>
  visible(JSON.stringify(value, null, indent))
