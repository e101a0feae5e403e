/** Types of the few parts of Express that the sample uses. The package itself has none. */
declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  export type Request = IncomingMessage & { query: Record<string, unknown> }
  export type Handler = (request: Request, reply: ServerResponse, next: () => void) => void
  export interface Router {}
  type Application = {
    disable(setting: string): void
    use(path: string, ...handlers: (Handler | Router)[]): void
    listen(port: number, host: string): Server
  }
  export default function express(): Application
}
