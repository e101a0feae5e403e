/** Verbs of operators on a running host: what is installed, who may what, and what happened. */
import type { Command } from 'commander'
import { changing, reading } from './operator/change.ts'
import { wholeNumber } from './whole-number.ts'

const GRANT_HELP = `
A want is named by its kind, or by its kind and subject:
  all                                  everything
  capability create_account            that it offers this
  egress https://api.acme.example      what it sends to this origin
  login https://id.acme.example        a login that the host performs there
  clear_secret token.token             that its code sees this secret
  limit memory_mb                      this much of the host`

const EXIT_HELP = `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 kept but waiting for a grant.`

/** Several values of one option. */
const collect = (value: string, before: string[] = []): string[] => [...before, value]

const installing = (command: Command): Command =>
  changing(command)
    .option('--grant <want>', 'grant this with it; may stand several times', collect)
    .option('--grant-all', 'grant all that it wants')
    .option('--allow-breaking', 'also where it breaks what serves now')
    .option('--allow-downgrade', 'also where it is older than what serves now')

const uploading = (command: Command): Command =>
  installing(command)
    .option(
      '--signature <file>',
      'signature of the package; default: <package>.sig, if it is there',
    )
    .option('--change-publisher', 'the connector has changed hands')
    .option('--no-activate', 'only keep the package')

/** Adds them. */
export function addOperatorVerbs(program: Command): void {
  uploading(program.command('install').argument('<package>', 'file that `keyway pack` wrote'))
    .description('check a package, show what it wants, and let calls go to it')
    .addHelpText(
      'after',
      `${GRANT_HELP}\n${EXIT_HELP}\n\nExample:\n  keyway install acme-1.0.0.tgz --grant-all --reason 'for the sales team'`,
    )
    .action(async (file, flags) => (await import('./operator/install.ts')).install(file, flags))

  uploading(
    program.command('upgrade').argument('<package-or-id>', 'a package, or the id of a connector'),
  )
    .option('--to <version>', 'with an id: the version or digest that is installed already')
    .description(
      'let calls go to another version; calls and pages that have begun end where they are',
    )
    .addHelpText(
      'after',
      `${EXIT_HELP}\n\nExample:\n  keyway upgrade acme-1.1.0.tgz\n  keyway upgrade acme --to 1.0.0 --allow-downgrade`,
    )
    .action(async (what, { to, ...flags }) => {
      const verbs = await import('./operator/install.ts')
      await (to === undefined ? verbs.install(what, flags) : verbs.upgradeTo(what, to, flags))
    })

  reading(program.command('list'))
    .description('list connectors, also those that are not served, with reasons')
    .addHelpText('after', '\nExample:\n  keyway list')
    .action(async (flags) => (await import('./operator/look.ts')).list(flags))

  reading(program.command('show').argument('<id>', 'id of the connector'))
    .description('show an installed connector: its versions, what it wants, what is granted')
    .addHelpText('after', '\nExample:\n  keyway show acme')
    .action(async (id, flags) => (await import('./operator/look.ts')).show(id, flags))

  reading(
    program
      .command('diff')
      .argument('<from>', 'generation', wholeNumber)
      .argument('[to]', 'generation; default: the newest', wholeNumber),
  )
    .description('say what is different between two generations')
    .addHelpText('after', '\nExample:\n  keyway diff 3 5')
    .action(async (from, to, flags) => (await import('./operator/look.ts')).diff(from, to, flags))

  addGrantVerbs(program)

  changing(
    program.command('disable').argument('<id>', 'id of the connector, wherever it comes from'),
  )
    .option('--now', 'cut off calls and page sequences that have begun, too')
    .description('let no calls go to a connector')
    .addHelpText('after', '\nExample:\n  keyway disable acme --now --reason "their key leaked"')
    .action(async (id, { now, ...flags }) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'disable'), flags, { at_once: now ?? false })
    })

  changing(program.command('enable').argument('<id>', 'id of the connector'))
    .description('let calls go to a disabled connector again')
    .addHelpText('after', '\nExample:\n  keyway enable acme')
    .action(async (id, flags) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'enable'), flags, {})
    })

  changing(program.command('remove').argument('<id>', 'id of the connector'))
    .description('forget an installed connector with its versions and grants')
    .addHelpText('after', '\nExample:\n  keyway remove acme')
    .action(async (id, flags) => {
      const { remove } = await import('./operator/remove.ts')
      await remove((await import('./operator/change.ts')).connectorPath(id), flags)
    })

  changing(program.command('rollback').argument('<generation>', 'see keyway history', wholeNumber))
    .option('--grant <want>', 'grant this again with it; may stand several times', collect)
    .option('--grant-all', 'grant all again that it wants')
    .description('serve what an earlier generation served, with the grants of today')
    .addHelpText('after', '\nExample:\n  keyway rollback 4 --reason "1.1.0 lists nobody"')
    .action(async (to, { grant, grantAll, ...flags }) => {
      const { change } = await import('./operator/change.ts')
      await change('/operator/rollback', flags, { to, grant: grantAll ? 'all' : (grant ?? []) })
    })

  reading(program.command('history'))
    .option('--limit <count>', 'how many', wholeNumber, 20)
    .description('list who changed what is installed, when and why')
    .addHelpText('after', '\nExample:\n  keyway history --limit 5')
    .action(async (flags) => (await import('./operator/look.ts')).history(flags))

  reading(program.command('nodes'))
    .description('list the hosts on this database and the generation that each serves')
    .addHelpText('after', '\nExample:\n  keyway nodes')
    .action(async (flags) => (await import('./operator/look.ts')).nodes(flags))

  addPublisherVerbs(program)

  reading(program.command('logs').argument('[id]', 'only of this connector'))
    .option('--limit <count>', 'how many', wholeNumber, 50)
    .option('--follow', 'go on with those that come')
    .description('list the latest calls of the host, with the requests that each made')
    .addHelpText('after', '\nExample:\n  keyway logs acme --follow')
    .action(async (id, flags) => (await import('./operator/look.ts')).logs(id, flags))

  reading(
    program
      .command('call')
      .argument('<id>', 'id of the connector')
      .argument('<capability>', 'such as list_accounts'),
  )
    .option('--as <file>', 'JSON with auth or credentials, and settings; default: asks for each')
    .option('--request <json>', 'the request, as JSON or the name of a file with it')
    .option('--size <count>', 'items per page', wholeNumber)
    .option('--one-page', 'only the first page; else lists are printed whole')
    .option('--raw-data', 'also what the system itself has said')
    .description('call a capability, and follow its pages')
    .addHelpText(
      'after',
      '\nExits with 1 when the answer is an error. Secrets are asked for without being shown.\n\nExample:\n  keyway call acme list_accounts --as acme.json',
    )
    .action(async (id, capability, flags) =>
      (await import('./operator/call.ts')).call(id, capability, flags),
    )
}

function addGrantVerbs(program: Command): void {
  for (const [verb, description, example] of [
    [
      'grant',
      'grant what versions of a connector want',
      'grant acme "egress https://api.acme.example"',
    ],
    ['revoke', 'take back what was granted, at once', 'revoke acme clear_secret'],
  ] as const) {
    changing(
      program
        .command(verb)
        .argument('<id>', 'id of the connector')
        .argument('<wants...>', 'which, or all'),
    )
      .description(description)
      .addHelpText('after', `${GRANT_HELP}\n\nExample:\n  keyway ${example}`)
      .action(async (id, wants: string[], flags) => {
        const { change, connectorPath } = await import('./operator/change.ts')
        await change(connectorPath(id, verb), flags, {
          wants: wants.includes('all') ? 'all' : wants,
        })
      })
  }

  reading(program.command('probe').argument('<id>', 'id of an installed connector'))
    .option('--as <file>', 'JSON with auth or credentials, and settings')
    .option('--forget', 'keep none any more')
    .description('keep credentials that new versions are tried with before calls go to them')
    .addHelpText('after', '\nExample:\n  keyway probe acme --as acme.json')
    .action(async (id, flags) => (await import('./operator/probe.ts')).probe(id, flags))
}

function addPublisherVerbs(program: Command): void {
  reading(program.command('publishers'))
    .description('list the publishers whose packages are trusted')
    .addHelpText('after', '\nExample:\n  keyway publishers')
    .action(async (flags) => (await import('./operator/look.ts')).publishers(flags))

  changing(program.command('trust').argument('<key>', 'file with a public key of keyway keygen'))
    .requiredOption('--name <publisher>', 'whose it is')
    .description('trust what a key has signed')
    .addHelpText('after', "\nExample:\n  keyway trust acme.key.pub --name 'Acme Inc.'")
    .action(async (file, flags) => (await import('./operator/publish.ts')).trust(file, flags))

  changing(program.command('distrust').argument('<key>', 'id of the key, see keyway publishers'))
    .description('trust a key no more: what it has signed stops serving')
    .addHelpText(
      'after',
      '\nExample:\n  keyway distrust 3q2-7wQx0o9bYc1TfE5aZg --reason "it leaked"',
    )
    .action(async (key, flags) => {
      const { remove } = await import('./operator/remove.ts')
      await remove(`/operator/publishers/${encodeURIComponent(key)}`, flags)
    })
}
