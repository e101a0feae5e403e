/** Asks one connector of a host, as the tests of a connector do. */
import { type Answer, failure, success, type TestHost, type WireError } from './host.ts'

type Asking<G> = {
  call(capability: string, request?: object, given?: G): Promise<Answer>
  /** @throws Error with the connector's own where it is one */
  done<T>(capability: string, request?: object, given?: G): Promise<T>
  /** The error of a call. @throws Error where it is none */
  refused(capability: string, request?: object, given?: G): Promise<WireError>
  /** The items of all pages. */
  all<T>(capability: string, size?: number, given?: G): Promise<T[]>
}

/** `hostOf` is asked at each call: the host starts after the tests are described. `envelope` makes the body of a call. */
export function asking<G = never>(
  hostOf: () => TestHost,
  connector: string,
  envelope: (request?: object, given?: G) => object,
): Asking<G> {
  const call = (capability: string, request: object = {}, given?: G) =>
    hostOf().call(connector, capability, envelope(request, given))
  return {
    call,
    done: async (capability, request, given) =>
      success((await call(capability, request, given)).body),
    refused: async (capability, request, given) => failure(await call(capability, request, given)),
    async all<T>(capability: string, size?: number, given?: G) {
      return (await hostOf().pages<T>(connector, capability, envelope({}, given), size)).flat()
    },
  }
}
