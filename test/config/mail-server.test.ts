/** The mail settings: accepted values, and messages for invalid ones. */
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../runtime/config/config.ts'

const WHOLE = {
  KEYWAY_PUBLIC_URL: 'https://keyway.acme.example/',
  KEYWAY_MAIL_SERVER: 'smtp://key%2Bway@mail.acme.example',
  KEYWAY_MAIL_PASSWORD: 'not-to-be-shown',
  KEYWAY_MAIL_FROM: 'Keyway Team <keyway@acme.example>',
}

test('the mail settings are read as one server', () => {
  expect(readConfig(WHOLE).mail).toEqual({
    ...{ host: 'mail.acme.example', port: 587, implicitTls: false, user: 'key+way' },
    ...{ password: 'not-to-be-shown', origin: 'https://keyway.acme.example', language: 'en' },
    from: { name: 'Keyway Team', address: 'keyway@acme.example' },
  })
  const other = { KEYWAY_MAIL_SERVER: 'smtps://[::1]', KEYWAY_MAIL_PASSWORD: '' }
  expect(readConfig({ ...WHOLE, ...other }).mail).toMatchObject({
    ...{ host: '::1', port: 465, implicitTls: true, user: null },
  })
  expect(readConfig({ ...WHOLE, KEYWAY_MAIL_LANGUAGE: 'de' }).mail?.language).toBe('de')
  expect(readConfig({}).mail).toBeNull()
})

test.each([
  [{ KEYWAY_MAIL_SERVER: 'mail.acme.example:25' }, 'is not an address such as smtp://'],
  [{ KEYWAY_MAIL_SERVER: 'smtp://mail.acme.example/x' }, 'is not an address such as smtp://'],
  [
    { KEYWAY_MAIL_SERVER: 'smtp://k:not-to-be-shown@mail.example' },
    'put it into KEYWAY_MAIL_PASSWORD',
  ],
  [{ KEYWAY_MAIL_SERVER: 'smtp://mail.acme.example' }, 'names no user'],
  [{ KEYWAY_MAIL_SERVER: '' }, 'KEYWAY_MAIL_PASSWORD: is set without KEYWAY_MAIL_SERVER'],
  [{ KEYWAY_MAIL_LANGUAGE: 'fr' }, 'KEYWAY_MAIL_LANGUAGE: "fr" is not one of en, de'],
  [{ KEYWAY_MAIL_PASSWORD: '' }, 'KEYWAY_MAIL_PASSWORD: is required'],
  [{ KEYWAY_MAIL_FROM: '' }, 'KEYWAY_MAIL_FROM: is required'],
  [{ KEYWAY_MAIL_FROM: 'a@b.example, c@d.example' }, 'is not an address such as Keyway'],
  [
    { KEYWAY_MAIL_FROM: 'Keyway <a@b.example>\r\nBcc: c@d.example' },
    'is not an address such as Keyway',
  ],
  [{ KEYWAY_PUBLIC_URL: '' }, 'KEYWAY_PUBLIC_URL: is required'],
  [{ KEYWAY_PUBLIC_URL: 'https://keyway.acme.example/path' }, 'without a path'],
  [{ KEYWAY_PUBLIC_URL: 'javascript:alert(1)' }, 'without a path'],
])('%o is refused', (change, words) => {
  const read = () => readConfig({ ...WHOLE, ...change })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(words)
  expect(read).not.toThrow('not-to-be-shown')
})
