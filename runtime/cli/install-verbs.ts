/** Verbs for operators that change which connectors a host has, and what they are granted. */
import type { Command } from 'commander'
import { takesKey } from './terminal/key-operand.ts'
import { namedArgument, namedOption } from './terminal/named.ts'
import { AS, askingHost, changing, collect, helped, WANT_NOTES } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

/** Adds the verbs. */
export function addInstallVerbs(program: Command): void {
  program.commandsGroup('Install and operate connectors:')
  addPackageVerbs(program)
  addSwitchVerbs(program)
  addGrantVerbs(program)
  addPublisherVerbs(program)
}

const installing = (command: Command): Command =>
  changing(command)
    .option('--grant <want>', 'grant this with it; may stand several times', collect)
    .option('--grant-all', 'grant all that it wants')
    .option('--allow-breaking', 'also where it breaks what serves now')
    .option('--allow-downgrade', 'also where it is older than what serves now')

/** Adds the options of a verb that reads registries. */
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

function addPackageVerbs(program: Command): void {
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
