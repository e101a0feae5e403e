/** Verbs for operators that inspect a running host, sync its apps and call its connectors. */
import type { Command } from 'commander'
import { JOB_STATES } from '../contract/endpoints/jobs.ts'
import { CAUSE_KINDS } from '../contract/models/causes.ts'
import { namedArgument, namedOption } from './terminal/named-arguments.ts'
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
    .description('list connectors, including those that are not served, with the reason')
    .action(async (flags) => (await import('./operator/look.ts')).list(flags))

  helped(askingHost(program.command('show')), { examples: ['show acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('show an installed connector: its versions, wants and grants')
    .action(async (id, flags) => (await import('./operator/look.ts')).show(id, flags))

  helped(askingHost(program.command('history')), {
    examples: ['history --limit 5', 'history --before 120'],
  })
    .option('--limit <count>', 'maximum number, up to 100', parseWholeNumber, 20)
    .option('--before <generation>', 'only older ones than this', parseWholeNumber)
    .description('list the history of installed connectors: who changed what, when and why')
    .action(async (flags) => (await import('./operator/look.ts')).history(flags))

  helped(askingHost(program.command('diff')), { examples: ['diff 3', 'diff 3 5'] })
    .addArgument(namedArgument('generation', '<from>', 'generation').argParser(parseWholeNumber))
    .addArgument(
      namedArgument('generation', '[to]', 'generation; default: the newest').argParser(
        parseWholeNumber,
      ),
    )
    .description('show the differences between two generations')
    .action(async (from, to, flags) => (await import('./operator/look.ts')).diff(from, to, flags))

  helped(askingHost(program.command('nodes')), { examples: ['nodes'] })
    .description('list the hosts on this database and the generation that each serves')
    .action(async (flags) => (await import('./operator/look.ts')).nodes(flags))

  helped(askingHost(program.command('rotation')), {
    notes: `To change the secret, start every host with KEYWAY_SECRET=old,new, then each with new,old, and with new alone
once this command reports that it is safe to drop the old one. Earlier backups still need the old one.`,
    examples: ['rotation', 'rotation --end-tokens --dry-run'],
  })
    .option('--end-tokens', 'revoke the API tokens that have not been used since')
    .option('--dry-run', 'with --end-tokens: only count them')
    .description('show what still needs an older secret of KEYWAY_SECRET')
    .action(async (flags) => (await import('./operator/rotation.ts')).rotation(flags))

  helped(askingHost(program.command('publishers')), { examples: ['publishers'] })
    .description('list the publishers whose packages are trusted')
    .action(async (flags) => (await import('./operator/look.ts')).publishers(flags))

  helped(askingHost(program.command('jobs')), {
    notes:
      'Lists the jobs of all hosts; finished ones are kept for a week, or as set by KEYWAY_RETENTION.',
    examples: ['jobs --state failed'],
  })
    .addOption(namedOption('queue', '--queue <name>', 'only this kind of work'))
    .addOption(
      namedOption('state', '--state <state>', `only those in this state: ${JOB_STATES.join(', ')}`),
    )
    .option('--limit <count>', 'maximum number, up to 1000', parseWholeNumber, 50)
    .description('list background jobs, newest first')
    .action(async (flags) => (await import('./operator/jobs.ts')).jobs(flags))

  helped(askingHost(program.command('logs')), {
    notes:
      'Lists the calls of this host only, since it started. Queries are shown with their names, and with values that are not secret.',
    examples: [
      'logs acme --follow',
      'logs --cause sync:17',
      'logs --app 3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10',
    ],
  })
    .addArgument(namedArgument('connector', '[id]', 'only of this connector'))
    .option('--limit <count>', 'maximum number, up to 1000', parseWholeNumber, 50)
    .addOption(namedOption('app', '--app <app>', 'only those made for this app, by its id'))
    .addOption(
      namedOption(
        'cause',
        '--cause <cause>',
        `only those with this cause, alone or with its id: ${CAUSE_KINDS.join(', ')}`,
      ),
    )
    .option('--follow', 'keep listing new calls')
    .description('list the latest calls of the host, with the requests of each')
    .action(async (id, flags) => (await import('./operator/logs.ts')).logs(id, flags))
}

function addSyncVerbs(program: Command): void {
  helped(askingHost(program.command('syncs')), { examples: ['syncs', 'syncs --limit 5 --json'] })
    .addArgument(namedArgument('app', '[app]', 'only of this app, by its id'))
    .option('--limit <count>', 'maximum number, up to 1000', parseWholeNumber, 20)
    .description('list the latest syncs of apps, and their progress')
    .action(async (app, flags) => (await import('./operator/syncs.ts')).syncs(app, flags))

  helped(askingHost(program.command('sync-accept')), {
    notes:
      'A sync that finds suspiciously few of the known rows stops before anything is marked as gone.',
    examples: ['sync-accept 17'],
  })
    .addArgument(
      namedArgument('run', '<run>', 'number of a stopped sync, see keyway syncs').argParser(
        parseWholeNumber,
      ),
    )
    .option('--dry-run', 'only report what would be marked as gone')
    .description('continue a stopped sync: confirm that what it did not find is gone')
    .action(async (run, flags) => (await import('./operator/syncs.ts')).acceptSync(run, flags))

  helped(askingHost(program.command('sync-cancel')), {
    notes:
      'Data found so far is kept, and data not found is unchanged. The schedule of the app continues: sync-settings --every 0 ends it.',
    examples: ['sync-cancel 17'],
  })
    .addArgument(
      namedArgument('run', '<run>', 'number of a running sync, see keyway syncs').argParser(
        parseWholeNumber,
      ),
    )
    .option('--dry-run', 'only report what would be cancelled')
    .description('cancel a running sync')
    .action(async (run, flags) => (await import('./operator/syncs.ts')).cancelSync(run, flags))

  helped(askingHost(program.command('sync-settings')), {
    notes: `The file holds some of every_hours, page_size, max_rows, max_repeated_percent, match_rules and identity_source; others
are not changed. With this one, the app creates users, with managers by the attribute boss_id and groups of GROUP
entitlements:
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
    .option('--dry-run', 'only show the resulting settings')
    .description('show or change the sync settings of an app')
    .action(async (app, flags) => (await import('./operator/syncs.ts')).syncSettings(app, flags))
}

function addCall(program: Command): void {
  helped(program.command('call'), {
    notes: `The file of --as holds { "auth": { "token": { "token": "..." } }, "settings": { ... } }; without it you
are asked for each value, and secrets are not shown. The interface's own token, if it has one, is taken from
KEYWAY_CONNECTOR_TOKEN. Exits with 1 if the response is an error. With --record no host is needed: the folder's own
code is called in a sandbox, and its response and its requests become a case. Secrets are replaced by invented ones,
but data about people is kept. A case of the same name is replaced. Private addresses need KEYWAY_PRIVATE_EGRESS here
too, and databases and directories without TLS need KEYWAY_PLAIN_SQL or KEYWAY_PLAIN_LDAP.`,
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
    .option('--one-page', 'only the first page; without it, lists are printed completely')
    .option('--raw-data', 'also print the raw data of the system')
    .option(
      '--record <directory>',
      'call the connector of this folder, and record the call as a case there',
    )
    .option('--name <name>', 'name of the recorded case; default: named after the call')
    .option('--dry-run', 'only show what would be sent, without the secrets')
    .option('--json', 'print the whole response, even if it is an error')
    .option('--url <address>', 'address of the host; default: HOST and PORT')
    .description('call a capability and follow its pages')
    .action(async (id, capability, flags) => {
      if (flags.record !== undefined)
        return (await import('./record.ts')).record(id, capability, flags)
      await (await import('./operator/call.ts')).call(id, capability, flags)
    })
}
