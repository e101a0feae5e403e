/** The log: JSON lines on standard output, readable lines on a terminal. */
import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type Log = Logger

/** Makes the host's log. Names of members that could hold a secret are cut wherever they stand. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', '*.authorization', 'auth', '*.auth', 'credentials', '*.credentials'],
      censor: '[secret]',
    },
  }
  if (destination) return pino(options, destination)
  if (!process.stdout.isTTY) return pino(options, pino.destination({ dest: 1, sync: false }))
  return pino(
    options,
    pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'hostname,pid' }),
  )
}
