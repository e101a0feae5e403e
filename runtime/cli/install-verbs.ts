/** Verbs for operators that change which connectors a host has, and what they are granted. */
import type { Command } from 'commander'
import { takesKey } from './terminal/key-operand.ts'
import { namedArgument, namedOption } from './terminal/named-arguments.ts'
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
    .option('--grant <want>', 'grant this with it; may be repeated', collect)
    .option('--grant-all', 'grant everything that it wants')
    .option('--allow-breaking', 'also if it breaks the version that serves now')
    .option('--allow-downgrade', 'also if it is older than the version that serves now')

/** Adds the options of a verb that reads registries. */
const looking = (command: Command): Command =>
  command.option(
    '--registry <address>',
    'registry, or a mirror of it: https://... or a folder; may be repeated; default: KEYWAY_REGISTRY',
    collect,
  )

const uploading = (command: Command): Command =>
  looking(installing(command))
    .option('--signature <file>', 'its signature; default: PACKAGE.sig, if it exists')
    .option('--change-publisher', 'the connector has changed hands')
    .option('--no-activate', 'only store the package')

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
    .description('check a package, show what it wants, and activate it')
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
        'a package, or, with --to, the id of an installed connector',
      ),
    )
    .addOption(
      namedOption(
        'version',
        '--to <version>',
        'with an id: the version or digest, which must be installed',
      ),
    )
    .description('move calls to another version; calls in progress end on the previous one')
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
    .option('--grant <want>', 'grant this again with it; may be repeated', collect)
    .option('--grant-all', 'grant everything again that it wants')
    .description('serve the versions of an earlier generation, with the current grants')
    .action(async (to, flags) => (await import('./operator/install.ts')).rollback(to, flags))

  helped(looking(askingHost(program.command('search'))), {
    notes:
      'The index must be signed by a publisher that the host trusts. With --key, it must be signed by that key, and no host is needed.',
    examples: ['search', 'search ldap --registry ./registry --key acme.key.pub'],
  })
    .argument('[words...]', 'words in the id, name, description or capabilities; default: all')
    .option('--key <file>', 'public key of the publisher')
    .description('search a registry for connectors')
    .action(async (words, flags) => (await import('./operator/registry.ts')).search(words, flags))

  helped(looking(askingHost(program.command('outdated'))), { examples: ['outdated'] })
    .description(
      'list connectors with a newer version in a registry, from the same publisher, that runs here',
    )
    .action(async (flags) => (await import('./operator/registry.ts')).outdated(flags))

  helped(changing(program.command('remove')), { examples: ['remove acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('remove an installed connector with its versions and grants')
    .action(async (id, flags) => {
      const { connectorPath, remove } = await import('./operator/change.ts')
      await remove(connectorPath(id), flags)
    })
}

function addSwitchVerbs(program: Command): void {
  helped(changing(program.command('disable')), {
    examples: ['disable acme --now --reason "their key leaked"'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector, from any source'))
    .option('--now', 'also cut off calls and page sequences in progress')
    .description('stop all calls to a connector')
    .action(async (id, { now, ...flags }) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'disable'), flags, { at_once: now ?? false })
    })

  helped(changing(program.command('enable')), { examples: ['enable acme'] })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .description('allow calls to a disabled connector again')
    .action(async (id, flags) => {
      const { change, connectorPath } = await import('./operator/change.ts')
      await change(connectorPath(id, 'enable'), flags, {})
    })

  helped(askingHost(program.command('release')), {
    notes:
      'A connector in quarantine is also released automatically after a pause; keyway list shows which ones are.',
    examples: ['release acme'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of the connector'))
    .option('--dry-run', 'only report whether it is suspect or in quarantine')
    .description('allow calls again to a connector whose worker process kept dying')
    .action(async (id, flags) => (await import('./release.ts')).release(id, flags))
}

function addGrantVerbs(program: Command): void {
  for (const [verb, description, examples] of [
    [
      'grant',
      'grant what a connector wants',
      ['grant acme "egress https://api.acme.example"', 'grant acme capability limit'],
    ],
    [
      'revoke',
      'revoke grants at once',
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
    notes: `The file is the same as for keyway call: { "auth": { ... }, "settings": { ... } }. Without --as you are asked for
each value. The credentials are stored sealed, and never shown.`,
    examples: ['probe acme --as acme.json', 'probe acme --forget'],
  })
    .addArgument(namedArgument('connector', '<id>', 'id of an installed connector'))
    .option('--as <credentials>', AS)
    .option('--forget', 'delete the stored credentials')
    .option('--dry-run', 'only try them on the version that serves now')
    .description('store credentials with which new versions are tried before they take calls')
    .action(async (id, flags) => (await import('./operator/probe.ts')).probe(id, flags))
}

function addPublisherVerbs(program: Command): void {
  helped(changing(program.command('trust')), {
    examples: ["trust acme.key.pub --name 'Acme Inc.'"],
  })
    .argument('<key>', 'file with a public key of keyway keygen')
    .requiredOption('--name <publisher>', 'name of its owner')
    .description('trust packages signed by a key')
    .action(async (file, flags) => (await import('./operator/publish.ts')).trust(file, flags))

  helped(changing(takesKey(program.command('distrust'))), {
    examples: ['publishers', 'distrust 3q2-7wQx0o9bYc1TfE5aZg --reason "it leaked"'],
  })
    .addArgument(namedArgument('publisher', '<key>', 'id of the key, see keyway publishers'))
    .description('stop trusting a key: packages signed by it stop serving')
    .action(async (key, flags) => {
      const { remove } = await import('./operator/change.ts')
      await remove(`/operator/publishers/${encodeURIComponent(key)}`, flags)
    })
}
