/** Calls one connector of a host, for the tests of a connector. */
import { type Answer, failure, success, type TestHost, type WireError } from './host.ts'

type ConnectorClient<G> = {
  call(capability: string, request?: object, given?: G): Promise<Answer>
  /** @throws Error with the connector's error, if there is one */
  done<T>(capability: string, request?: object, given?: G): Promise<T>
  /** The error of a call. @throws Error if it succeeds */
  refused(capability: string, request?: object, given?: G): Promise<WireError>
  /** Sends the same call three times at once; none of them may fail. */
  together(capability: string, request?: object, given?: G): Promise<void>
  /** The items of all pages. */
  all<T>(capability: string, size?: number, given?: G): Promise<T[]>
}

/**
 * `hostOf` is evaluated at each call, since the host starts after the tests are described. `envelope` builds
 * the body of a call.
 */
export function connectorClient<G = never>(
  hostOf: () => TestHost,
  connector: string,
  envelope: (request?: object, given?: G) => object,
): ConnectorClient<G> {
  const call = (capability: string, request: object = {}, given?: G) =>
    hostOf().call(connector, capability, envelope(request, given))
  const done = async <T>(capability: string, request?: object, given?: G) =>
    success<T>((await call(capability, request, given)).body)
  return {
    call,
    done,
    async together(capability, request, given) {
      await Promise.all([1, 2, 3].map(() => done(capability, request, given)))
    },
    refused: async (capability, request, given) => failure(await call(capability, request, given)),
    async all<T>(capability: string, size?: number, given?: G) {
      return (await hostOf().pages<T>(connector, capability, envelope({}, given), size)).flat()
    },
  }
}
