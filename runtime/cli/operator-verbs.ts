/** Verbs for operators that inspect a running host, sync its apps and call its connectors. */
import type { Command } from 'commander'
import { JOB_STATES } from '../contract/endpoints/jobs.ts'
import { CAUSE_KINDS } from '../contract/models/causes.ts'
import { namedArgument, namedOption } from './terminal/named.ts'
import { AS, askingHost, helped } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

/** Adds the verbs. */
export function addOperatorVerbs(program: Command): void {
  program.commandsGroup('Look:')
  addLookVerbs(program)
  program.commandsGroup('Sync apps:')
  addSyncVerbs(program)
  program.commandsGroup('Call:')
  addCall(program)
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
