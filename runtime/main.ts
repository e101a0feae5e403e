/**
 * The only wiring: calls the constructors in order and passes each its dependencies as values and functions.
 * `createHost` creates everything but the listening socket, for tests and commands to use.
 */
import path from 'node:path'
import { BUILT_IN_DIR, type Config, setting } from './config/config.ts'
import { settingsInForce } from './config/in-force.ts'
import { createLifecycle } from './connectors/lifecycle/lifecycle.ts'
import { noteQuarantine } from './connectors/lifecycle/quarantined.ts'
import { readBuiltIn } from './connectors/registry/built-in.ts'
import { compile } from './connectors/registry/compile.ts'
import { createLocate } from './connectors/registry/positions.ts'
import { createRegistry, type RegistryListing } from './connectors/registry/registry.ts'
import { openStore } from './connectors/registry/store.ts'
import { toolchainDigest } from './connectors/registry/toolchain.ts'
import type { Version } from './connectors/registry/version.ts'
import { watchDirectories } from './connectors/registry/watch.ts'
import { CAPABILITIES } from './contract/capabilities/capabilities.ts'
import type { Manifest } from './contract/connector/manifest.ts'
import { createLateEntries } from './core/kernel/audit/late-entries.ts'
import type { CoreContext } from './core/kernel/context/context.ts'
import { timingOf } from './core/kernel/context/pace.ts'
import { createTokenHasher } from './core/kernel/identity/token-hasher.ts'
import { createSingleFlight } from './core/kernel/single-flight.ts'
import { createOperatorStanding } from './core/sign-in/operator-standing.ts'
import { LISTENERS } from './core/wiring/listeners.ts'
import { databaseTime } from './database/transactions.ts'
import { createEgress } from './egress/fetch.ts'
import { createIdentity } from './egress/identity/identity.ts'
import { createOAuth } from './egress/oauth/perform.ts'
import { checkRules } from './egress/rules/url-template.ts'
import { openDataDir } from './host/data-dir.ts'
import type { Host } from './host/host.ts'
import { judgeSettings } from './host/judged-settings.ts'
import { noWork, openHostDatabase } from './host/open-database.ts'
import type { HostParts } from './host/parts.ts'
import { createStandings } from './host/standings.ts'
import { watchWritable } from './host/writable.ts'
import { createApp } from './http/app.ts'
import { createClientAddress } from './http/edge/client-address.ts'
import { refuseOddRequests } from './http/edge/odd-requests.ts'
import { statusOfRefusal } from './http/edge/statuses.ts'
import { interceptConnections } from './http/front/front.ts'
import { createPlainCalls } from './http/front/plain-calls.ts'
import { createReadiness } from './http/readiness.ts'
import { createCall } from './invoke/call.ts'
import { createConcurrencyLimit } from './invoke/concurrency.ts'
import { createInvoke } from './invoke/invoke.ts'
import { createPageTokens } from './invoke/page-token.ts'
import { createPerforming } from './invoke/performing.ts'
import type { InvokeDeps } from './invoke/ports.ts'
import { createSmokeTest } from './invoke/smoke-test.ts'
import { createStart } from './invoke/start.ts'
import { createLanes } from './lanes/lanes.ts'
import { createLauncher } from './lanes/launch.ts'
import { withWorker } from './lanes/spare-worker.ts'
import { buildWorker } from './lanes/worker-bundle.ts'
import { createPost } from './mail/smtp.ts'
import { createGauges } from './observe/gauges.ts'
import type { Log } from './observe/log.ts'
import { createMetrics } from './observe/metrics.ts'
import { createTelemetry, type Observers, workersTelemetry } from './observe/telemetry.ts'
import { egressLimitsOf, lanesLimitsOf } from './processes/process-share.ts'
import { ALONE, answersOf } from './processes/siblings.ts'
import { followRotation } from './rotation/rotate-secrets.ts'
import { createSealer } from './secrets/seal.ts'
import { keptSecret } from './secrets/secret-files.ts'
import { createSigner } from './secrets/signing-key.ts'
import { checkPackage } from './testing/check-package.ts'
import { VERSION } from './version.ts'

export type { Host } from './host/host.ts'

/** Maximum time to compile a connector, in milliseconds. */
const COMPILE_TIMEOUT_MS = 20_000

/**
 * Creates a host. `given.only` replaces the built-in and the configured plugin directories.
 *
 * @throws ConfigError if a setting proves wrong when it is used
 */
export async function createHost(
  config: Config,
  log: Log,
  observers: Observers = {},
  given: HostParts = {},
): Promise<Host> {
  const { only = null, database: wanted, resolve, launch = (as) => as, recorder } = given
  const { siblings = ALONE, worker, keeper = null } = given
  const { dataDir } = config
  const isEmbedded = config.databaseUrl === ''
  const { keptDays, grants, clearGrants, providers } = await judgeSettings(config)
  await openDataDir(dataDir)
  const secrets =
    config.secrets.length > 0 ? config.secrets : [(await keptSecret(dataDir, 'secret')).value]
  const kept = config.adminToken === '' ? await keptSecret(dataDir, 'admin-token', 'lsk_') : null
  const adminToken = kept?.value ?? config.adminToken

  const hasher = createTokenHasher(secrets)
  const operator = createOperatorStanding(adminToken, hasher, (text) => log.warn(text))
  // Without a database, the token cannot have ended.
  if (wanted === 'none') operator.heard('good')
  const vault = createSealer(secrets, 'connection')
  /** Resolves to the parts once connectors can be called. */
  const callable = Promise.withResolvers<CoreContext>()
  const pace = timingOf(given.pace)
  const post = config.mail && createPost(config.mail, pace, given.mailTrust)
  const known = { config, log, secrets, operator, hasher, keptDays, pace, post }
  const state =
    wanted === 'none'
      ? null
      : await setting(() =>
          openHostDatabase({
            ...known,
            parts: callable.promise,
            ...{ replaceMissing: wanted === 'new', isBeside: wanted === 'beside', keeper },
          }),
        )
  const database = state?.database ?? null

  const launcher = launch(createLauncher(worker ?? (await buildWorker(path.join(dataDir, 'run')))))
  const entries = createLateEntries({
    database,
    onLost: (error) => log.error({ err: error }, 'an entry of the activity log was lost'),
  })
  const noted = async (digest: string) => {
    const id = registry.list().find((one) => one.digest === digest)?.id
    if (id) await noteQuarantine(entries, id)
  }
  const lanes = createLanes(
    launcher,
    workersTelemetry(log, () => metrics, noted),
    lanesLimitsOf(config, siblings.wanted),
  )

  const egress = createEgress({
    ...grants,
    proxy: config.proxy,
    userAgent: `keyway/${VERSION}`,
    limits: egressLimitsOf(siblings.wanted),
    ceilings: config.ceilings,
    onRefused: (connector) => metrics.upstreamRefused(connector),
    ...(resolve === undefined ? {} : { resolve }),
    ...(recorder === undefined ? {} : { onHop: recorder.onHop }),
  })

  const signIn = { providers, identity: createIdentity(egress.signIn.post), vault }
  const toolchain = toolchainDigest()
  const store = openStore(dataDir, toolchain)
  const onRetired = ({ lane, digest }: Version) => {
    // Other versions may use a shared lane.
    if (lane === digest) lanes.drain(lane)
  }
  const folders = createRegistry({
    store,
    builtIn: await readBuiltIn(),
    dropIn: config.dropIn,
    clearGrants,
    inspector: {
      checkEgress: checkRules,
      compile: (folder) =>
        withWorker(lanes, () =>
          compile(folder, {
            workDirectory: path.join(dataDir, 'run'),
            prefix: launcher.prefix,
            timeoutMs: COMPILE_TIMEOUT_MS,
          }),
        ),
      describe: (connector, deadlineMs) => lanes.describe(connector, deadlineMs),
    },
    onChange: (listing: RegistryListing) => told.changed(listing),
    onRetired,
  })
  const performing = createPerforming()
  const packageStore = openStore(path.join(dataDir, 'installed'), toolchain)
  const lifecycle = await createLifecycle({
    dataDir,
    folders,
    store: packageStore,
    database,
    policy: config.install,
    vault,
    checkEgress: checkRules,
    checkPackage: (one) => checkPackage(one, lanes, checkRules),
    tryOut: (version, probe) => tryOut(version, probe),
    onRetired,
    onTaken(manifestNow) {
      // Reject the waiting calls first. A slot that becomes free must not start one of them.
      performing.cutOff(manifestNow)
      lanes.cutOff(manifestNow)
      // Running calls may reach no more than the new manifest allows.
      egress.judgeAgain()
    },
    onError: (error) => log.warn({ err: error }, 'following what is installed failed'),
    tell: (text) => log.warn(text),
    listOtherCalls: (query) => siblings.ask({ about: 'calls', query }),
  })
  const { registry } = lifecycle

  const turns = createConcurrencyLimit()
  const metrics = createMetrics(
    createGauges({
      ...{ database, registry, lanes, turns, dataDir, isEmbedded, log },
      ready: () => readiness.say().ready,
      onUnread: (measure) => metrics.unread(measure),
    }),
    () => siblings.ask({ about: 'metrics' }),
  )
  const performOAuth = createOAuth({
    open: egress.open,
    once: createSingleFlight({
      db: () => database?.db() ?? null,
      sealer: createSealer(secrets, 'shared-answer'),
      onError: (error) => log.warn({ err: error }, 'sharing an answer with other hosts failed'),
    }),
  })
  const told = createTelemetry({ log, metrics, lifecycle, observers })
  const isLooking = () => !started || registry.checking > 0
  const deps: InvokeDeps = {
    find: registry.find,
    isLooking,
    ending: registry.ending,
    byDigest: lifecycle.byDigest,
    run: recorder === undefined ? lanes.run : recorder.run(lanes.run),
    openEgress: (call) =>
      openEgress(call, () => registry.manifestNow(call.version, call.capability)),
    pageTokens: createPageTokens(secrets, database?.now),
    locate: createLocate(async (digest) => (await store.map(digest)) ?? packageStore.map(digest)),
    turns,
    ceilings: config.ceilings,
    log: told.logged,
    onUpstream: told.upstream,
    performOAuth: ({ version: served, capability, requestId, ...call }) =>
      performOAuth({
        connectorId: served.id,
        get manifest() {
          return registry.manifestNow(served, capability)
        },
        capability,
        ...call,
        onRecord: (record) => told.upstream(served, capability, record, requestId),
      }),
  }
  const requireServed = registry.manifestNow
  const invoke = createInvoke({ ...deps, requireServed, performing })
  // A version on trial serves nobody yet, so disabled calls do not concern it.
  const openAsIs: InvokeDeps['openEgress'] = (call) => openEgress(call, () => call.version.manifest)
  const tryOut = createSmokeTest(
    { ...deps, openEgress: openAsIs },
    lanes.describe,
    told.calledByCore,
  )

  /** Reads the manifest at each request, so that a revoked grant takes effect at once. */
  function openEgress(
    { version: served, capability, ...call }: Parameters<InvokeDeps['openEgress']>[0],
    manifestOf: () => Manifest,
  ) {
    return egress.open({
      ...call,
      connectorId: served.id,
      get manifest() {
        return manifestOf()
      },
      capability,
      level: CAPABILITIES[capability].level,
    })
  }

  const configured = config.dropIn === 'off' ? [] : config.pluginDirs
  const directories = only === null ? [...new Set([BUILT_IN_DIR, ...configured])] : [only]
  const lookFailed = (error: Error) =>
    log.error({ err: error }, 'looking at the plugin directories failed')
  /** Checks started by the first scan. Checks of drop-in connectors do not delay serving. */
  const checks: Promise<void>[] = []
  const ownChecks: Promise<void>[] = []
  let started = false
  const watched = watchDirectories(directories, {
    async onFolder(folder) {
      const { checked } = await folders.look(folder)
      const all = path.dirname(folder) === BUILT_IN_DIR ? ownChecks : checks
      const looked = checked.catch(lookFailed)
      if (!started) all.push(looked)
    },
    onGone: (folder) => folders.remove(folder),
    onError: lookFailed,
  })
  const settled = watched.first.then(async () => {
    await Promise.all(ownChecks)
    started = true
    await Promise.all(checks)
  })

  const stopping = new AbortController()
  const { signal } = stopping
  const leaving = new AbortController()
  const resealed = followRotation(database, vault, { signal, log })

  void Promise.all([settled, lifecycle.ready]).then(() => callable.resolve(parts))

  let reached = database === null
  void Promise.all([database?.first, lifecycle.ready]).then(() => {
    reached = true
  })

  const parts: CoreContext = {
    connectors: {
      ids: registry.ids,
      find: registry.find,
      call: createCall(invoke, told.calledByCore, registry.find),
    },
    ...{ vault, hasher, signer: createSigner(secrets) },
    send: state?.work.send ?? noWork,
    deliver: egress.deliver,
    tell: (level, about, words) => log[level](about, words),
    ...{ now: databaseTime, listeners: LISTENERS, pace: known.pace, statusOfRefusal },
  }
  const writable = watchWritable(dataDir)
  const readiness = createReadiness({
    started: () => started,
    reached: () => reached,
    directory: writable.words,
    checking: () => registry.checking,
    database,
    more: () => ({
      generation: lifecycle.generation(),
      connectors: registry.ids().length,
      containment: lanes.containment,
      scheduling: lanes.scheduling,
      processes: { wanted: siblings.wanted, serving: siblings.serving() },
    }),
  })

  const interfaceDeps = {
    connectorsPath: config.connectorsPath,
    find: registry.find,
    ...{ isLooking, invoke, log },
    onCall: told.called,
    generation: lifecycle.generation,
    allowedHosts: config.loopback ? [config.host, ...config.allowedHosts] : null,
    connectorToken: config.openConnectors ? '' : config.connectorToken,
  }
  // A recorder only sees calls on the general path.
  const start =
    recorder === undefined
      ? createStart({ ...deps, requireServed, turns, start: lanes.start })
      : () => false
  const standings = createStandings({ served: registry, lanes, siblings, log, entries })
  siblings.answer(answersOf(metrics, lifecycle.calls, standings))
  const app = createApp({
    ...interfaceDeps,
    core: {
      db: () => database?.db() ?? null,
      ...{ hasher, parts, signIn, log },
      ...{ requestsPerMinute: config.requestsPerMinute, publicOrigin: config.publicOrigin },
      clientAddress: createClientAddress(config.trustedProxies),
      onAnswer: metrics.answered,
    },
    ids: registry.ids,
    logo: async (digest) => (await store.logo(digest)) ?? packageStore.logo(digest),
    ...{ lifecycle, vault, dataDir, isEmbedded, keptDays, metrics, post },
    settings: settingsInForce(config),
    registries: config.registries,
    operator,
    readiness,
    leaving: leaving.signal,
    ...standings,
  })

  return {
    app,
    refuseOdd: (next) => refuseOddRequests(log, next),
    interceptConnections: (server) =>
      interceptConnections(server, createPlainCalls({ ...interfaceDeps, start })),
    registry,
    lifecycle,
    lanes,
    invoke,
    parts,
    hasher,
    db: () => database?.db() ?? null,
    databasePid: () => database?.pid() ?? null,
    readyAfter: readiness.after,
    endFollowing: () => leaving.abort(),
    databaseReady: database?.first ?? Promise.resolve(),
    adminToken,
    adminTokenFile: kept?.file ?? null,
    settled,
    async stop() {
      leaving.abort()
      await Promise.all([watched.stop(), writable.stop(), state?.work.stop()])
      lanes.stop()
      await egress.close()
      stopping.abort()
      await lifecycle.stop()
      await entries.stop()
      await Promise.all([resealed, database?.stop()])
    },
  }
}
