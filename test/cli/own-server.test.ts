import { expect, test } from 'vitest'
import { ownServerWords } from '../../runtime/cli/own-server.ts'

test.each([
  ['postgres://bob:hunter2@db:5433/keyway', '--host=db --port=5433 --username=bob --dbname=keyway'],
  [
    'postgres:///keyway?host=/run/pg&password=hunter2',
    '--host=/run/pg --username=USER --dbname=keyway',
  ],
  ['postgres://', '--host=HOST --username=USER --dbname=DATABASE'],
  ['postgres://bob:hunter2@db:x/keyway', '--host=HOST --username=USER --dbname=DATABASE'],
  ['postgres://$(id):hunter2@db/keyway', '--host=HOST --username=USER --dbname=DATABASE'],
])('%s is printed as options, without its password', (url, options) => {
  for (const verb of ['backup', 'restore'] as const) {
    const words = ownServerWords(verb, url)
    expect(words).toContain(options)
    expect(words).not.toContain('hunter2')
    expect(words).toMatch(verb === 'backup' ? /pg_dump .*\n.*pg_basebackup/ : /pg_restore/)
  }
})
