/** Verbs of operators on a running host: what is installed, who may what, and what happened. */
import type { Command } from 'commander'
import { JOB_STATES } from '../contract/endpoints/jobs.ts'
import { CAUSE_KINDS } from '../contract/models/causes.ts'
import { takesKey } from './terminal/key-operand.ts'
import { namedArgument, namedOption } from './terminal/named.ts'
import { askingHost, changing, collect, helped, WANT_NOTES } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

/** What --as takes. */
const AS =
  'auth or credentials, and settings, as the name of a file with JSON, or as JSON, which others on this machine can see; default: asks for each'

/** Adds them. */
export function addOperatorVerbs(program: Command): void {
  program.commandsGroup('Install and operate connectors:')
  addInstallVerbs(program)
  addSwitchVerbs(program)
  addGrantVerbs(program)
  addPublisherVerbs(program)
  program.commandsGroup('Look:')
  addLookVerbs(program)
  program.commandsGroup('Sync apps:')
  addSyncVerbs(program)
  program.commandsGroup('Call:')
  addCall(program)
}

const installing = (command: Command): Command =>
  changing(command)
    .option('--grant <want>', 'grant this with it; may stand several times', collect)
    .option('--grant-all', 'grant all that it wants')
    .option('--allow-breaking', 'also where it breaks what serves now')
    .option('--allow-downgrade', 'also where it is older than what serves now')

/** Options of a verb that looks into registries. */
const looking = (command: Command): Command =>
  command.option(
    '--registry <address>',
    'registry, or a mirror of it: https://... or a folder; may stand several times; default: KEYWAY_REGISTRY',
    collect,
  )

const uploading = (command: Command): Command =>
  looking(installing(command))
    .option('--signature <file>', 'its signature; default: PACKAGE.sig, if it is there')
    .option('--change-publisher', 'the connector has changed hands')
    .option('--no-activate', 'only keep the package')

function addInstallVerbs(program: Command): void {
  const wants = `On a terminal it asks before it grants anything; elsewhere it waits for --grant or --grant-all.

${WANT_NOTES}`
  helped(uploading(program.command('install')), {
    notes: wants,
    waits: true,
    examples: [
      'install acme-1.0.0.tgz --dry-run',
      "install acme-1.0.0.tgz --grant-all --reason 'for the sales team'",
      'install acme@^1.0 --registry https://connectors.acme.example',
    ],
  })
    .argument('<package>', 'file that keyway pack wrote, or NAME or NAME@RANGE of a registry')
    .description('check a package, show what it wants, and let calls go to it')
    .action(async (file, flags) => (await import('./operator/install.ts')).install(file, flags))

  helped(uploading(program.command('upgrade')), {
    notes: wants,
    waits: true,
    examples: ['upgrade acme-1.1.0.tgz', 'upgrade acme --to 1.0.0 --allow-downgrade'],
  })
    .addArgument(
      namedArgument(
        'connector',
        '<package-or-id>',
        'a package, or with --to the id of an installed connector',
      ),
    )
    .addOption(
      namedOption(
        'version',
        '--to <version>',
        'with an id: the version or digest that is installed already',
      ),
    )
    .description('move calls to another version; those that have begun end where they are')
    .action(async (what, { to, ...flags }) => {
      const verbs = await import('./operator/install.ts')
      await (to === undefined ? verbs.install(what, flags) : verbs.upgradeTo(what, to, flags))
    })

  helped(changing(program.command('rollback')), {
    waits: true,
    examples: ['history', 'rollback 4 --reason "1.1.0 lists nobody"'],
  })
    .addArgument(
      namedArgument('generation', '<generation>', 'see keyway history').argParser(parseWholeNumber),
    )
    .option('--grant <want>', 'grant this again with it; may stand several times', collect)
    .option('--grant-all', 'grant all again that it wants')
    .description('serve what an earlier generation served, with the grants of today')
    .action(async (to, flags) => (await import('./operator/install.ts')).rollback(to, flags))

  helped(looking(askingHost(program.command('search'))), {
    notes:
      'Its index must be signed by a publisher that the host trusts, or by the key that --key names: then no host is asked.',
    examples: ['search', 'search ldap --registry ./registry --key acme.key.pub'],
  })
    .argument('[words...]', 'in the id, name, description or capabilities; default: all')
    .option('--key <file>', 'public key of the publisher')
    .description('search a registry for connectors')
    .action(async (words, flags) => (await import('./operator/registry.ts')).search(words, flags))

  helped(looking(askingHost(program.command('outdated'))), { examples: ['outdated'] })
    .description(
      'list connectors of which a registry has a newer version of the same publisher that runs here',
    )
    .action(async (flags) => (await import('./operator/registry.ts')).outdated(flags))

  helped(changing(program.command('remove')), { examples: ['remove acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('forget an installed connector with its versions and grants')
    .action(async (id, flags) => {
      const { connectorPath, remove } = await import('./operator/change.ts')
      await remove(connectorPath(id), flags)
    })
}

function addSwitchVerbs(program: Command): void {
  helped(changing(program.command('disable')), {
    examples: ['disable acme --now --reason "their key leaked"'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector, wherever it comes from'))
    .option('--now', 'cut off calls and page sequences that have begun, too')
    .description('let no calls go to a connector')
    .action(async (id, { now, ...flags }) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'disable'), flags, { at_once: now ?? false })
    })

  helped(changing(program.command('enable')), { examples: ['enable acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('let calls go to a disabled connector again')
    .action(async (id, flags) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'enable'), flags, {})
    })

  helped(askingHost(program.command('release')), {
    notes:
      'A connector in quarantine also comes back by itself, after a pause; keyway list shows which are.',
    examples: ['release acme'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .option('--dry-run', 'only say whether there is anything to release it from')
    .description('let a connector take calls again whose worker process kept dying')
    .action(async (id, flags) => (await import('./release.ts')).release(id, flags))
}

function addGrantVerbs(program: Command): void {
  for (const [verb, description, examples] of [
    [
      'grant',
      'grant what versions of a connector want',
      ['grant acme "egress https://api.acme.example"', 'grant acme capability limit'],
    ],
    [
      'revoke',
      'take back what was granted, at once',
      ['revoke acme clear_secret --reason "not needed any more"'],
    ],
  ] as const) {
    helped(changing(program.command(verb)), { notes: WANT_NOTES, examples })
      .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
      .addArgument(namedArgument('want', '<wants...>', 'which, or all'))
      .description(description)
      .action(async (id, wants: string[], flags) => {
        const { change, connectorPath } = await import('./operator/change.ts')
        const chosen = wants.includes('all') ? 'all' : wants
        await change(connectorPath(id, verb), flags, { wants: chosen })
      })
  }

  helped(askingHost(program.command('probe')), {
    notes: `The file holds what keyway call takes: { "auth": { ... }, "settings": { ... } }. Without --as each value is
asked for. The credentials are kept sealed, and never shown.`,
    examples: ['probe acme --as acme.json', 'probe acme --forget'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of an installed connector'))
    .option('--as <credentials>', AS)
    .option('--forget', 'keep none any more')
    .option('--dry-run', 'only try them with the version that serves now')
    .description('keep credentials that new versions are tried with before calls go to them')
    .action(async (id, flags) => (await import('./operator/probe.ts')).probe(id, flags))
}

function addPublisherVerbs(program: Command): void {
  helped(changing(program.command('trust')), {
    examples: ["trust acme.key.pub --name 'Acme Inc.'"],
  })
    .argument('<key>', 'file with a public key of keyway keygen')
    .requiredOption('--name <publisher>', 'whose it is')
    .description('trust what a key has signed')
    .action(async (file, flags) => (await import('./operator/publish.ts')).trust(file, flags))

  helped(changing(takesKey(program.command('distrust'))), {
    examples: ['publishers', 'distrust 3q2-7wQx0o9bYc1TfE5aZg --reason "it leaked"'],
  })
    .addArgument(namedArgument('publisher', '<key>', 'id of the key, see keyway publishers'))
    .description('trust a key no more: what it has signed stops serving')
    .action(async (key, flags) => {
      const { remove } = await import('./operator/change.ts')
      await remove(`/operator/publishers/${encodeURIComponent(key)}`, flags)
    })
}

function addLookVerbs(program: Command): void {
  helped(askingHost(program.command('list')), { examples: ['list'] })
    .description('list connectors, also those that are not served, with reasons')
    .action(async (flags) => (await import('./operator/look.ts')).list(flags))

  helped(askingHost(program.command('show')), { examples: ['show acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('show an installed connector: its versions, what it wants, what is granted')
    .action(async (id, flags) => (await import('./operator/look.ts')).show(id, flags))

  helped(askingHost(program.command('history')), {
    examples: ['history --limit 5', 'history --before 120'],
  })
    .option('--limit <count>', 'how many, at most 100', parseWholeNumber, 20)
    .option('--before <generation>', 'only older ones than this', parseWholeNumber)
    .description('list who changed what is installed, when and why')
    .action(async (flags) => (await import('./operator/look.ts')).history(flags))

  helped(askingHost(program.command('diff')), { examples: ['diff 3', 'diff 3 5'] })
    .addArgument(namedArgument('generation', '<from>', 'generation').argParser(parseWholeNumber))
    .addArgument(
      namedArgument('generation', '[to]', 'generation; default: the newest').argParser(
        parseWholeNumber,
      ),
    )
    .description('say what is different between two generations')
    .action(async (from, to, flags) => (await import('./operator/look.ts')).diff(from, to, flags))

  helped(askingHost(program.command('nodes')), { examples: ['nodes'] })
    .description('list the hosts on this database and the generation that each serves')
    .action(async (flags) => (await import('./operator/look.ts')).nodes(flags))

  helped(askingHost(program.command('rotation')), {
    notes: `To change the secret, start every host with KEYWAY_SECRET=old,new, then each with new,old, and with new alone
once this says that it is safe to drop the old one. Backups made before still need the old one.`,
    examples: ['rotation', 'rotation --end-tokens --dry-run'],
  })
    .option('--end-tokens', 'revoke the API tokens that were not used since')
    .option('--dry-run', 'with --end-tokens: only count them')
    .description('say how much still needs an older secret of KEYWAY_SECRET')
    .action(async (flags) => (await import('./operator/rotation.ts')).rotation(flags))

  helped(askingHost(program.command('publishers')), { examples: ['publishers'] })
    .description('list the publishers whose packages are trusted')
    .action(async (flags) => (await import('./operator/look.ts')).publishers(flags))

  helped(askingHost(program.command('jobs')), {
    notes:
      'They are those of all hosts; what has ended is kept for a week, or as KEYWAY_RETENTION says.',
    examples: ['jobs --state failed'],
  })
    .addOption(namedOption('queue', '--queue <name>', 'only this kind of work'))
    .addOption(
      namedOption('state', '--state <state>', `only those in this state: ${JOB_STATES.join(', ')}`),
    )
    .option('--limit <count>', 'how many, at most 1000', parseWholeNumber, 50)
    .description('list what is done in the background, newest first')
    .action(async (flags) => (await import('./operator/jobs.ts')).jobs(flags))

  helped(askingHost(program.command('logs')), {
    notes:
      'They are those of the host that is asked, since it started; of a query its names are kept, and values that are no secrets.',
    examples: [
      'logs acme --follow',
      'logs --cause sync:17',
      'logs --app 3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10',
    ],
  })
    .addArgument(namedArgument('connector', '[id]', 'only of this connector'))
    .option('--limit <count>', 'how many, at most 1000', parseWholeNumber, 50)
    .addOption(
      namedOption('app', '--app <app>', 'only those that were made for this app, by its id'),
    )
    .addOption(
      namedOption(
        'cause',
        '--cause <cause>',
        `only those with this cause, alone or with its id: ${CAUSE_KINDS.join(', ')}`,
      ),
    )
    .option('--follow', 'go on with those that come')
    .description('list the latest calls of the host, with the requests that each made')
    .action(async (id, flags) => (await import('./operator/logs.ts')).logs(id, flags))
}

function addSyncVerbs(program: Command): void {
  helped(askingHost(program.command('syncs')), { examples: ['syncs', 'syncs --limit 5 --json'] })
    .addArgument(namedArgument('app', '[app]', 'only of this app, by its id'))
    .option('--limit <count>', 'how many, at most 1000', parseWholeNumber, 20)
    .description('list the latest syncs of apps, and how far they are')
    .action(async (app, flags) => (await import('./operator/syncs.ts')).syncs(app, flags))

  helped(askingHost(program.command('sync-accept')), {
    notes:
      'A sync that misses suspiciously much of what there was stops before anything is marked as gone.',
    examples: ['sync-accept 17'],
  })
    .addArgument(
      namedArgument('run', '<run>', 'number of a stopped sync, see keyway syncs').argParser(
        parseWholeNumber,
      ),
    )
    .option('--dry-run', 'only say what would be marked as gone')
    .description('say of a stopped sync that what vanished is gone indeed')
    .action(async (run, flags) => (await import('./operator/syncs.ts')).acceptSync(run, flags))

  helped(askingHost(program.command('sync-cancel')), {
    notes:
      'What it brought so far stays; what it did not find stays as it was. The schedule of the app goes on: --every 0 of sync-settings ends that.',
    examples: ['sync-cancel 17'],
  })
    .addArgument(
      namedArgument('run', '<run>', 'number of a running sync, see keyway syncs').argParser(
        parseWholeNumber,
      ),
    )
    .option('--dry-run', 'only say what would be cancelled')
    .description('end a running sync')
    .action(async (run, flags) => (await import('./operator/syncs.ts')).cancelSync(run, flags))

  helped(askingHost(program.command('sync-settings')), {
    notes: `The file holds some of every_hours, page_size, max_rows, max_repeated_percent, match_rules and identity_source; what it leaves
out stays as it is. This app makes users, with managers by the attribute boss_id and groups of GROUP entitlements:
  { "identity_source": { "manager": { "attribute": "boss_id", "by": "id" }, "groups": "GROUP", "attributes": {} } }`,
    examples: [
      'sync-settings 3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10',
      'sync-settings 3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10 --every 6',
      'sync-settings 3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10 --set source.json --dry-run',
    ],
  })
    .addArgument(namedArgument('app', '<app>', 'id of the app'))
    .option('--set <file>', 'JSON with the settings to change')
    .option('--every <hours>', 'hours between scheduled syncs; 0 for none', parseWholeNumber)
    .option('--dry-run', 'only say what they would be')
    .description('show how an app is synced, or change it')
    .action(async (app, flags) => (await import('./operator/syncs.ts')).syncSettings(app, flags))
}

function addCall(program: Command): void {
  helped(program.command('call'), {
    notes: `The file of --as holds { "auth": { "token": { "token": "..." } }, "settings": { ... } }; without it each value
is asked for, secrets without being shown. The interface's own token, where it has one, is taken from
KEYWAY_CONNECTOR_TOKEN. Exits with 1 when the answer is an error. With --record no host is asked: the folder's own
code is called, in a sandbox of its own, and what it and its system say becomes a case, with invented secrets in the
place of real ones; what it says of people stays. A case of the same name is replaced. Private addresses need
KEYWAY_PRIVATE_EGRESS here too, databases and directories without TLS KEYWAY_PLAIN_SQL or KEYWAY_PLAIN_LDAP.`,
    examples: [
      'call acme info',
      'call acme list_accounts --as acme.json',
      `call acme get_account --as acme.json --request '{"account_id":"u1"}'`,
      'call acme list_accounts --as acme.json --size 2 --record plugins/acme',
    ],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .addArgument(namedArgument('capability', '<capability>', 'such as list_accounts'))
    .option('--as <credentials>', AS)
    .option('--request <json>', 'the request, as JSON or the name of a file with it')
    .option('--size <count>', 'items per page', parseWholeNumber)
    .option('--one-page', 'only the first page; else lists are printed whole')
    .option('--raw-data', 'also what the system itself has said')
    .option(
      '--record <directory>',
      'call the connector of this folder, and make a case of it there',
    )
    .option('--name <name>', 'name of the recorded case; default: what was called')
    .option('--dry-run', 'only show what would be sent, without the secrets')
    .option('--json', 'print the whole answer, also where it is an error')
    .option('--url <address>', 'address of the host; default: HOST and PORT')
    .description('call a capability, and follow its pages')
    .action(async (id, capability, flags) => {
      if (flags.record !== undefined)
        return (await import('./record.ts')).record(id, capability, flags)
      await (await import('./operator/call.ts')).call(id, capability, flags)
    })
}
