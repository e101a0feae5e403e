/** Free ports for servers that tests start. */
import { createServer } from 'node:net'

/**
 * Finds a loopback port that is free at the moment.
 *
 * @param count how many consecutive ports must be free; the first is returned
 * @throws Error if there are none after 50 attempts
 */
export async function freePort(count = 1): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = await listened(0)
    if (first === null || first + count > 65_536) continue
    const others = Array.from({ length: count - 1 }, (_, index) => first + 1 + index)
    if (!(await Promise.all(others.map(listened))).includes(null)) return first
  }
  throw new Error(`no ${count} free ports in a row`)
}

/** Listens on a port and frees it again; null if it is in use. 0 takes any port. */
function listened(wanted: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    )
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
