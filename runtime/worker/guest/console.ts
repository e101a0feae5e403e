import { recentCall } from './calls.ts'
import { type Level, show, writeLog } from './log.ts'

const LEVELS: Record<string, Level> = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  warn: 'warn',
  error: 'error',
}

/** Directs the engine's silent console to the log. Methods not listed stay silent. */
export function installConsole(target: Record<string, unknown>): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    target[method] = (...values: unknown[]): void => {
      writeLog(recentCall(), level, values.map(show).join(' '))
    }
  }
}
