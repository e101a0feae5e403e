/** Free ports for servers that tests start. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports below the ephemeral range: an ephemeral port could be taken between the check and the start of its
 * server.
 */
const [FIRST, END] = [10_240, 32_000]

/**
 * Finds a loopback port that is free at the moment.
 *
 * @param count how many consecutive ports must be free; the first is returned
 * @throws Error if there are none after 50 attempts
 */
export async function freePort(count = 1): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = randomInt(FIRST, END)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if (!(await Promise.all(ports.map(isTaken))).includes(true)) return first
  }
  throw new Error(`no ${count} free ports in a row`)
}

/** Listens on a port and frees it again. */
function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)))
  })
}
