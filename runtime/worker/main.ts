/**
 * Entry of a worker process. It is bundled into one file that includes the prelude's text, so that the
 * process reads only that file and isolated-vm's binary.
 *
 * Arguments: the path of isolated-vm's binary. The standard output is the pipe to the host, in both
 * directions.
 */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { membersOf } from '../contract/schema/record.ts'
import { serve } from './worker.ts'
import { writersSource } from './writers.ts'

/** Bundle of the guest prelude, inserted by the bundler. */
declare const KEYWAY_PRELUDE: string

/**
 * Ends the process at once. After a native loop of a guest, even process.exit() would hang (isolated-vm issue
 * 260).
 */
const die = (message: string): never => {
  writeSync(2, `${message}\n`)
  process.kill(process.pid, 'SIGKILL')
  throw new Error(message)
}

const { ivm } = createRequire(process.argv[1] ?? '')(process.argv[2] ?? '')
/** Size of the reused read buffer, in bytes. By default Node allocates 64 KiB for each read. */
const READ_BYTES = 256 * 1024
const read = Buffer.allocUnsafeSlow(READ_BYTES)
let hear: (chunk: Buffer) => void = () => die('the host spoke before it was listened to')
const pipe = new Socket({
  fd: 1,
  readable: true,
  writable: true,
  onread: {
    buffer: read,
    callback(bytes) {
      hear(read.subarray(0, bytes))
      return true
    },
  },
})
// The host has ended, or has closed the pipe of this worker.
pipe.on('close', () => die('the pipe to the host is closed'))
pipe.on('error', () => die('the pipe to the host is broken'))
// A defect in this process must not leave the host waiting.
process.on('uncaughtException', (error) => die(`uncaught: ${error.stack ?? error.message}`))
process.on('unhandledRejection', (error) => die(`unhandled: ${membersOf(error)['stack'] ?? error}`))

hear = serve(ivm, pipe, `${KEYWAY_PRELUDE}\n${writersSource()}`, die)
