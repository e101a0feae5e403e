/**
 * Servers on loopback: an upstream that attacks by requested path, a hostile directory, a hostile database,
 * and a canary that must not be reached.
 */
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { ESCAPED } from './attacks/attack.ts'
import { serveDatabase } from './database.ts'
import { serveDirectory } from './directory.ts'

export type Upstream = {
  /** `http://127.0.0.1:port` of the upstream. */
  url: string
  /** Address of the server whose answers are not valid HTTP. */
  rawUrl: string
  /** `ldap://127.0.0.1:port` of the directory. */
  directoryUrl: string
  /** `postgresql://127.0.0.1:port` of the database. */
  databaseUrl: string
  canaryUrl: string
  /** Returns the forbidden texts that arrived since the last call. */
  forbidden(): string[]
  close(): Promise<void>
}

const MEBIBYTE = 1024 * 1024
const CHUNK = Buffer.alloc(MEBIBYTE, 'x')
const DASHES = Buffer.alloc(4 * MEBIBYTE, '-')

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Actions of the upstream, by path. */
const ACTIONS = (canaryUrl: string): Record<string, Answer> => ({
  '/healthy': (_request, response) => response.end('well'),
  '/huge': (_request, response) => pour(response, () => CHUNK, 1024),
  '/dashes': (_request, response) => response.end(DASHES),
  '/drip': (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'), 50)
    response.on('close', () => clearInterval(timer))
  },
  '/silent': () => {},
  '/bomb': (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(64 * MEBIBYTE)))
  },
  '/nested': (_request, response) => response.end('['.repeat(5_000_000)),
  '/wide': (_request, response) => response.end(`[${'{},'.repeat(4_000_000)}{}]`),
  '/polluting': (_request, response) =>
    response.end(
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"toString":1}',
    ),
  '/echo': (request, response) => response.end(JSON.stringify(request.rawHeaders)),
  '/mirror': (request, response) => void mirror(request, response, 200),
  '/mirror-401': (request, response) => void mirror(request, response, 401),
  '/to-canary-with-query': (request, response) =>
    redirect(response, `${canaryUrl}/?${request.url?.split('?')[1]}`, 307),
  '/to-mirror-with-query': (request, response) =>
    redirect(response, `/mirror?again&${request.url?.split('?')[1]}`, 307),
  '/to-canary': (_request, response) => redirect(response, canaryUrl),
  '/to-canary-307': (_request, response) => redirect(response, canaryUrl, 307),
  '/to-metadata': (_request, response) => redirect(response, 'http://169.254.169.254/latest/'),
  '/to-file': (_request, response) => redirect(response, 'file:///etc/passwd'),
  '/to-user-info': (request, response) =>
    redirect(response, `http://user:pass@${request.headers.host}/healthy`),
  '/to-mapped': (_request, response) =>
    redirect(response, `http://[::ffff:127.0.0.1]:${new URL(canaryUrl).port}/`),
  '/in-circles': (_request, response) => redirect(response, '/in-circles'),
})

/**
 * Starts the servers. Forbidden are paths under `/must-not-arrive` and everything that reaches the canary.
 */
export async function startUpstream(): Promise<Upstream> {
  const arrived: string[] = []
  const sockets = new Set<Socket>()
  const servers: Server[] = []

  const listen = async (server: Server): Promise<string> => {
    servers.push(server)
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const at = server.address()
    if (at === null || typeof at === 'string') throw new Error('the server has no port')
    return `http://127.0.0.1:${at.port}`
  }

  const canaryUrl = await listen(
    createHttp((request, response) => {
      arrived.push(`the canary was reached: ${request.method} ${request.url}`)
      response.end(ESCAPED)
    }),
  )
  const actions = ACTIONS(canaryUrl)
  const url = await listen(
    createHttp({ maxHeaderSize: MEBIBYTE }, (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://upstream')
      if (!pathname.startsWith('/mirror')) request.resume()
      if (pathname.startsWith('/must-not-arrive')) arrived.push(`arrived: ${pathname}`)
      const action = actions[pathname]
      if (action) return action(request, response)
      response.end('{}')
    }),
  )
  const rawUrl = await listen(createTcp(speakRaw))
  const directory = await listen(
    createTcp((socket) => serveDirectory(socket, canaryUrl, (what) => void arrived.push(what))),
  )
  const database = await listen(
    createTcp((socket) => serveDatabase(socket, (what) => void arrived.push(what))),
  )
  return {
    url,
    rawUrl,
    directoryUrl: directory.replace('http:', 'ldap:'),
    databaseUrl: database.replace('http:', 'postgresql:'),
    canaryUrl,
    forbidden: () => arrived.splice(0),
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    },
  }
}

/** Echoes the whole request, in headers and body. */
async function mirror(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
): Promise<void> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  const { url, headers } = request
  response.writeHead(status, { 'x-mirror': String(headers.authorization ?? '') })
  response.end(JSON.stringify({ url, headers, body }))
}

function redirect(response: ServerResponse, location: string, status = 302): void {
  response.writeHead(status, { location }).end()
}

/** Writes as fast as the other side reads. */
function pour(to: NodeJS.WritableStream, make: () => Buffer | string, times: number): void {
  let left = times
  const write = () => {
    while (left > 0) {
      left -= 1
      if (!to.write(make())) return void to.once('drain', write)
    }
    to.end()
  }
  write()
}

/** Answers that are not HTTP, or HTTP that no library would write. */
const RAW: Record<string, (socket: Socket) => void> = {
  '/headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    pour(socket, () => `x-filler: ${'x'.repeat(1000)}\r\n`, 20_000)
  },
  '/garbage': (socket) => socket.end(Buffer.alloc(10_000, 0xff)),
  '/short': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort'),
  '/two-lengths': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 500\r\n\r\nhello'),
  '/interim': (socket) => pour(socket, () => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), 20_000),
  '/upgrade': (socket) =>
    socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello'),
  '/status': (socket) => socket.end('HTTP/1.1 99999 Strange\r\ncontent-length: 0\r\n\r\n'),
  '/chunk': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nx'),
}

function speakRaw(socket: Socket): void {
  socket.once('data', (head: Buffer) => {
    const [, path = ''] = /^\w+ (\S+)/.exec(head.toString('latin1')) ?? []
    const speak = RAW[path]
    if (speak) speak(socket)
    else socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  })
}
