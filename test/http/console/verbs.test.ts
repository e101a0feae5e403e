/** Every verb of the command is available in the console, or there is a reason why not. */
import { expect, test } from 'vitest'
import { createProgram, verbsOf } from '../../../runtime/cli/program.ts'
import {
  CHANGES,
  CONSOLE_FORMS,
  CONSOLE_PAGES,
  CONSOLE_UPLOADS,
} from '../../../runtime/http/console/table.ts'

type In =
  | { page: keyof typeof CONSOLE_PAGES }
  | { change: string }
  | { form: keyof typeof CONSOLE_FORMS }
  | { upload: keyof typeof CONSOLE_UPLOADS }
  | { missing: string }

const FILES = 'it reads or writes files of the machine'
const HOST = 'it is done to a host from its machine, also where none runs'

/** Verb -> where the console does it. */
const IN_CONSOLE: Record<string, In> = {
  start: { missing: HOST },
  verify: { missing: HOST },
  backup: { missing: FILES },
  restore: { missing: FILES },
  doctor: { page: 'upkeep' },
  'audit verify': { page: 'log' },
  'users import': { missing: FILES },
  'login-link': { missing: 'it is for the operator who can read the files of the host' },
  new: { missing: FILES },
  check: { missing: FILES },
  dev: { missing: FILES },
  pack: { missing: FILES },
  keygen: { missing: FILES },
  sign: { missing: FILES },
  publish: { missing: FILES },
  install: { upload: 'uploaded' },
  upgrade: { change: 'activate' },
  rollback: { change: 'rollback' },
  search: { page: 'registry' },
  outdated: { page: 'registry' },
  remove: { change: 'remove' },
  disable: { change: 'disable' },
  enable: { change: 'enable' },
  release: { change: 'release' },
  grant: { change: 'grant' },
  revoke: { change: 'revoke' },
  probe: { form: 'probe-kept' },
  trust: { change: 'trust' },
  distrust: { change: 'distrust' },
  list: { page: 'connectors' },
  show: { page: 'connector' },
  history: { page: 'generations' },
  diff: { page: 'compare' },
  nodes: { page: 'background' },
  rotation: { page: 'upkeep' },
  publishers: { page: 'publishers' },
  jobs: { page: 'background' },
  logs: { page: 'calls' },
  syncs: { page: 'app' },
  'sync-accept': { change: 'accept' },
  'sync-cancel': { change: 'cancel' },
  'sync-settings': { change: 'sync-settings' },
  call: { missing: 'it takes credentials of a file, and answers what no page may show' },
  'webhooks list': { page: 'webhooks' },
  'webhooks show': { page: 'webhook' },
  'webhooks test': { change: 'test-webhook' },
  'webhooks add': { change: 'new-webhook' },
  'webhooks update': { change: 'change-webhook' },
  'webhooks remove': { change: 'delete-webhook' },
  'review list': { page: 'reviews' },
  'review show': { page: 'review' },
  'review launch': { form: 'review-launched' },
  'review evidence': { page: 'evidence' },
  'person evidence': { page: 'person_evidence' },
  'review verify': { missing: FILES },
  'mail show': { page: 'upkeep' },
  'mail test': { form: 'mail-tried' },
  'person export': { form: 'record-taken' },
  'person erase': { change: 'erase-person' },
}

test('every verb of the command is listed, with its place in the console or a reason', () => {
  const verbs = verbsOf(createProgram()).map(({ name }) => name)
  expect(Object.keys(IN_CONSOLE).toSorted()).toEqual(verbs.toSorted())
})

test('every listed place in the console exists', () => {
  for (const [verb, where] of Object.entries(IN_CONSOLE)) {
    const isThere =
      ('page' in where && where.page in CONSOLE_PAGES) ||
      ('change' in where && where.change in CHANGES) ||
      ('form' in where && where.form in CONSOLE_FORMS) ||
      ('upload' in where && where.upload in CONSOLE_UPLOADS) ||
      ('missing' in where && where.missing !== '')
    expect(isThere, verb).toBe(true)
  }
})
