/** PATCH bodies as Entra ID and Okta document them, and the changes that they make. */
import { describe, expect, test } from 'vitest'
import { SCIM_URNS } from '../../../runtime/contract/models/scim.ts'
import { changeOfPatch, changeOfResource } from '../../../runtime/core/scim/group-fields.ts'
import { patchOperations } from '../../../runtime/core/scim/patch.ts'
import {
  emailOf,
  replaced,
  valuesOfPatch,
  valuesOfResource,
} from '../../../runtime/core/scim/user-fields.ts'

const user = (...Operations: object[]) =>
  valuesOfPatch(patchOperations({ schemas: [SCIM_URNS.patch], Operations }), 'ada@example.com')
const group = (...Operations: object[]) => {
  const { join, leave, ...more } = changeOfPatch(patchOperations({ Operations }))
  return { ...more, join: [...join], leave: [...leave] }
}

describe('users', () => {
  test.each<[string, object, object]>([
    [
      'deactivation by Entra ID',
      { op: 'Replace', path: 'active', value: 'False' },
      { active: false },
    ],
    [
      'activation by Entra ID, without a path',
      { op: 'Replace', value: { active: 'True' } },
      { active: true },
    ],
    ['deactivation by Okta', { op: 'replace', value: { active: false } }, { active: false }],
    [
      'the address by Entra ID',
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'a@example.com' },
      { email: 'a@example.com' },
    ],
    [
      'dotted names by Entra ID, without a path',
      { op: 'Add', value: { 'name.givenName': 'Ada', title: 'Countess' } },
      { givenName: 'Ada', title: 'Countess' },
    ],
    [
      'the extension by Entra ID, as a full path',
      { op: 'Add', path: `${SCIM_URNS.enterprise}:department`, value: 'Sales' },
      { department: 'Sales' },
    ],
    [
      'the extension by Entra ID, without a path',
      { op: 'Add', value: { [`${SCIM_URNS.enterprise}:costCenter`]: '42' } },
      { costCenter: '42' },
    ],
    [
      'an extension as an object',
      { op: 'replace', value: { [SCIM_URNS.enterprise]: { division: 'North' } } },
      { division: 'North' },
    ],
    [
      'the manager by Entra ID, as an id',
      { op: 'Add', path: `${SCIM_URNS.enterprise}:manager`, value: 'id-1' },
      { manager: 'id-1' },
    ],
    [
      'the manager as an object',
      { op: 'replace', path: 'manager', value: { value: 'id-1', displayName: 'Eve' } },
      { manager: 'id-1' },
    ],
    [
      'a part of the name',
      { op: 'replace', path: 'NAME.FamilyName', value: 'L' },
      { familyName: 'L' },
    ],
    [
      'the whole name',
      { op: 'replace', path: 'name', value: { givenName: 'Ada', formatted: 'Ada L' } },
      { givenName: 'Ada' },
    ],
    ['removal of an attribute', { op: 'Remove', path: 'title' }, { title: null }],
    ['removal of the name', { op: 'remove', path: 'name' }, { givenName: null, familyName: null }],
    [
      'a list of addresses by Okta',
      {
        op: 'replace',
        path: 'emails',
        value: [
          { value: 'h@x.org', type: 'home' },
          { value: 'w@x.org', primary: true },
        ],
      },
      { email: 'w@x.org' },
    ],
    [
      'a private address, which is ignored',
      { op: 'add', path: 'emails', value: [{ value: 'h@x.org', type: 'home' }] },
      {},
    ],
    [
      'a private address without a path, which is ignored',
      { op: 'add', value: { title: 'Dr', emails: { Value: 'h@x.org', Type: 'home' } } },
      { title: 'Dr' },
    ],
    [
      'another work address',
      { op: 'add', path: 'emails', value: [{ Value: 'w@x.org', type: 'work' }] },
      { email: 'w@x.org' },
    ],
    [
      'a new primary address',
      { op: 'add', value: { emails: [{ value: 'p@x.org', type: 'home', primary: true }] } },
      { email: 'p@x.org' },
    ],
    ['null as active, which is ignored', { op: 'replace', value: { active: null } }, {}],
    [
      'null as active by its path, which is ignored',
      { op: 'replace', path: 'active', value: null },
      {},
    ],
    ['removal of active, which is ignored', { op: 'remove', path: 'active' }, {}],
    [
      'the extension as a path',
      { op: 'replace', path: SCIM_URNS.enterprise, value: { department: 'Q' } },
      { department: 'Q' },
    ],
    [
      'the schema of users as a path',
      { op: 'add', path: SCIM_URNS.user, value: { title: 'Dr', 'name.givenName': 'Ada' } },
      { title: 'Dr', givenName: 'Ada' },
    ],
    [
      'removal of the extension',
      { op: 'remove', path: SCIM_URNS.enterprise.toLowerCase() },
      {
        ...{ employeeNumber: null, costCenter: null, organization: null, division: null },
        ...{ department: null, manager: null },
      },
    ],
  ])('a PATCH makes the change: %s', (_, operation, values) => {
    expect(user(operation)).toEqual(values)
  })

  test.each([
    { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' },
    { op: 'Add', path: 'emails[type eq "home"].value', value: 'h@x.org' },
    { op: 'replace', path: 'nickName', value: 'A' },
    { op: 'replace', path: 'urn:example:2.0:User:shoeSize', value: '38' },
    { op: 'replace', path: 'identity', value: 'x' },
    { op: 'replace', value: { id: 'x', groups: [], addresses: [{ type: 'work' }] } },
  ])('attributes that are not stored are ignored: %j', (operation) => {
    expect(user(operation)).toEqual({})
  })

  test.each<[string, Record<string, unknown>]>([
    [
      'Entra ID: a custom extension with member names of the standard schema',
      {
        schemas: [SCIM_URNS.user, 'urn:ietf:params:scim:schemas:extension:acme:2.0:User'],
        'urn:ietf:params:scim:schemas:extension:acme:2.0:User': { active: false, title: 'Chief' },
        'urn:ietf:params:scim:schemas:extension:acme:2.0:User:userName': 'eve',
        phoneNumbers: [{ type: 'work', value: '1' }],
      },
    ],
    [
      'Okta: a password, groups and attributes of its profile',
      { password: 'unread', groups: [], nickName: 'A', name: { middleName: 'B' }, roles: ['x'] },
    ],
    ['names of JavaScript', JSON.parse('{"__proto__":{"active":false},"constructor":"x"}')],
    [
      'an extension whose name is no path (RFC 8141)',
      {
        'urn:acme:hr/people:1.0:User': { title: 'Chief' },
        'urn:acme:hr/people:1.0:User:title': 'x',
      },
    ],
  ])('POST and PUT ignore attributes that are not stored (%s)', (_, more) => {
    const known = { userName: 'ada@example.com', active: true }
    expect(valuesOfResource({ ...known, ...more })).toEqual(known)
    expect(user({ op: 'replace', value: more })).toEqual({})
  })

  test.each([
    [{}, /invalid|needs a list Operations/i],
    [{ Operations: [] }, /at least one/],
    [{ Operations: [{ op: 'move', path: 'title' }] }, /add, replace or remove/],
    [{ Operations: [{ op: 'remove' }] }, /without a path/],
    [{ Operations: [{ op: 'remove', path: 'USERNAME' }] }, /userName is required/],
    [{ Operations: [{ op: 'remove', path: SCIM_URNS.user }] }, /userName is required/],
    [{ Operations: [{ op: 'add', path: SCIM_URNS.user, value: 'x' }] }, /object of attributes/],
    [{ Operations: [{ op: 'replace', value: 'x' }] }, /must be an object/],
    [{ Operations: [{ op: 'replace', path: 'title' }] }, /value is missing/],
    [{ Operations: [{ op: 'replace', path: 'emails[type eq', value: 'x' }] }, /cannot be read/],
    [{ Operations: [{ op: 'replace', path: '[]', value: 'x' }] }, /cannot be read/],
    [{ Operations: [{ op: 'replace', path: 'active', value: 'off' }] }, /true or false/],
    [{ Operations: [{ op: 'replace', path: 'title', value: { a: 1 } }] }, /must be text/],
    [{ Operations: [{ op: 'replace', path: 'userName', value: 'x'.repeat(256) }] }, /at most 255/],
    [{ Operations: [{ op: 'replace', path: 'ID', value: 'x' }] }, /ID is read-only/],
    [{ Operations: [{ op: 'remove', path: 'meta.created' }] }, /meta is read-only/],
    [
      { Operations: [{ op: 'add', path: `${SCIM_URNS.user}:groups[value eq "x"]`, value: 'x' }] },
      /groups is read-only; change the members/,
    ],
    [{ Operations: Array(101).fill({ op: 'remove', path: 'title' }) }, /at most 100/],
  ])('%j is refused', (body, words) => {
    expect(() => valuesOfPatch(patchOperations(body), 'ada@example.com')).toThrow(words)
  })

  test('required attributes cannot be removed', () => {
    const mutability = expect.objectContaining({ scimType: 'mutability' })
    expect(() => user({ op: 'remove', path: 'userName' })).toThrow(mutability)
    expect(() => group({ op: 'remove', path: 'displayName' })).toThrow(mutability)
  })

  test('more than 300 attributes are refused, even if they are nested or split', () => {
    const many = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, at) => [`k${at}`, null]))
    const nested = {
      ...many(200),
      [SCIM_URNS.user]: { ...many(99), [SCIM_URNS.enterprise]: many(2) },
    }
    const refused = expect.objectContaining({
      ...{ scimType: 'invalidSyntax', message: expect.stringContaining('at most 300') },
    })
    for (const read of [
      () => valuesOfResource(many(301)),
      () => valuesOfResource(nested),
      () => changeOfResource({ displayName: 'x', ...many(300) }),
      () => user({ op: 'add', value: many(301) }),
      () =>
        user(
          { op: 'add', value: many(200) },
          { op: 'add', path: SCIM_URNS.user, value: many(101) },
        ),
      () => group({ op: 'add', value: many(301) }),
    ])
      expect(read).toThrow(refused)
    expect(valuesOfResource(many(300))).toEqual({})
  })

  test('PUT clears the attributes that it omits, except active', () => {
    const values = replaced(valuesOfResource({ username: 'ada', Name: { GIVENNAME: 'Ada' } }))
    expect(values).toMatchObject({ userName: 'ada', givenName: 'Ada', title: null, manager: null })
    expect(values).not.toHaveProperty('active')
  })

  test('the address of a person is taken from emails, or else from userName', () => {
    expect(emailOf(null, 'ada@example.com')).toBe('ada@example.com')
    expect(emailOf('a@x.org', 'ada')).toBe('a@x.org')
    expect(() => emailOf(undefined, 'ada')).toThrow(/map one of them/)
    expect(() => emailOf('no address', 'ada@example.com')).toThrow(/not an e-mail address/)
  })
})

describe('groups', () => {
  const [a, b] = ['id-a', 'id-b']

  test.each<[string, object, object]>([
    [
      'new members by Entra ID and Okta',
      { op: 'Add', path: 'members', value: [{ value: a }, { value: b, display: 'B' }] },
      { join: [a, b], replaces: false },
    ],
    [
      'a removed member by Entra ID',
      { op: 'Remove', path: 'members', value: [{ value: a }] },
      { leave: [a], replaces: false },
    ],
    [
      'a removed member by Okta',
      { op: 'remove', path: `members[value eq "${a}"]` },
      { leave: [a], replaces: false },
    ],
    [
      'the only remaining member',
      { op: 'replace', path: 'members', value: [{ value: a }] },
      { join: [a], replaces: true },
    ],
    ['removal of all members', { op: 'remove', path: 'members' }, { join: [], replaces: true }],
    [
      'removal of all members, with null as the value',
      { op: 'remove', path: 'members', value: null },
      { join: [], replaces: true },
    ],
    [
      'removal of no member',
      { op: 'remove', path: 'members', value: [] },
      { join: [], leave: [], replaces: false },
    ],
    [
      'one member in place of another',
      { op: 'replace', path: `members[value eq "${a}"]`, value: { value: b } },
      { join: [b], leave: [a], replaces: false },
    ],
    [
      'another name by Okta',
      { op: 'replace', value: { id: 'x', displayName: 'Sales' } },
      { displayName: 'Sales', replaces: false },
    ],
    [
      'another external id by Entra ID',
      { op: 'Replace', path: 'externalId', value: 'e-1' },
      { externalId: 'e-1' },
    ],
  ])('a PATCH makes the change: %s', (_, operation, change) => {
    expect(group(operation)).toMatchObject(change)
  })

  test('an extension whose name is no path is ignored', () => {
    const more = { 'urn:acme:hr/teams:1.0:Group': { displayName: 'Other' } }
    expect(changeOfResource({ displayName: 'Sales', ...more })).toMatchObject({
      displayName: 'Sales',
    })
    expect(group({ op: 'replace', value: more })).not.toHaveProperty('displayName')
  })

  test('the last of several operations on a person counts', () => {
    const join = { op: 'add', path: 'members', value: [{ value: a }] }
    const leave = { op: 'remove', path: `members[value eq "${a}"]` }
    expect(group(join, leave)).toMatchObject({ join: [], leave: [a] })
    expect(group(leave, join)).toMatchObject({ join: [a], leave: [] })
  })

  test('a group as a member is refused, and a name is required', () => {
    const value = [{ value: a, type: 'Group' }]
    expect(() => group({ op: 'add', path: 'members', value })).toThrow(/can contain only people/)
    expect(() => group({ op: 'add', path: 'members', value: [{}] })).toThrow(/id of a user/)
    expect(() => changeOfResource({ members: [] })).toThrow(/displayName is missing/)
  })
})
