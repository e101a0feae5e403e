/**
 * Entry point of `keyway/sdk`, which connector authors import. It is bundled into every connector and runs in
 * the sandbox. It uses the contract's types, ECMAScript and the globals of the sandbox, and nothing of Node.
 */

export type { CapabilityName, Input, Output } from '../contract/capabilities/capabilities.ts'
export type { CredentialKind } from '../contract/connector/authentication.ts'
export type {
  FetchInit,
  GuestAbortSignal,
  GuestFormData,
  GuestHeaders,
  SettingValues,
  UpstreamReply,
} from '../contract/connector/context.ts'
export type {
  Ldap,
  LdapChange,
  LdapEntry,
  LdapFilter,
  LdapPage,
  LdapSearch,
  LdapValue,
} from '../contract/connector/ldap-context.ts'
export type {
  Sql,
  SqlPage,
  SqlParameter,
  SqlQueryOptions,
  SqlReads,
  SqlRow,
  SqlStatements,
  SqlStep,
  SqlValue,
  SqlWrites,
} from '../contract/connector/sql-context.ts'
export type { ErrorCode } from '../contract/errors/error-codes.ts'
export type { Json } from '../contract/schema/json.ts'
export { allOrNothing, type Undo } from './all-or-nothing.ts'
export { anchoredListing } from './anchored-listing.ts'
export { basic, bearer } from './authorization.ts'
export { chain } from './chain.ts'
export {
  type BodyOptions,
  type Client,
  type ClientOptions,
  client,
  type RequestOptions,
} from './client.ts'
export { ConnectorError, type ConnectorErrorDetails, hasCode } from './connector-error.ts'
export {
  type Auth,
  type ConnectorContext,
  type ConnectorTypes,
  defineConnector,
  type Handlers,
} from './define-connector.ts'
export { allItems, type Bounds, eachPage } from './each-page.ts'
export { form } from './form.ts'
export { ifThere } from './if-there.ts'
export { readJson } from './json.ts'
export {
  attributesFrom,
  firstOf,
  isBelow,
  movedDn,
  plainDn,
  textsOf,
  unlessAlready,
  valuesOf,
} from './ldap.ts'
export { guidText, guidValue, sidText, sidValue } from './ldap-ids.ts'
export { type PagedSearch, searchAll, searchPage } from './ldap-search.ts'
export { nextLink } from './link.ts'
export { inParallel, mapped } from './mapped.ts'
export { nested } from './nested.ts'
export { type OffsetAnswer, type OffsetOptions, offsetListing } from './offset-listing.ts'
export {
  type At,
  cursorPage,
  keyPage,
  keysCursor,
  type Listing,
  linkPage,
  numberCursor,
  offsetPage,
  type Page,
  type Paged,
  paged,
  textCursor,
} from './paging.ts'
export { randomPassword } from './random-password.ts'
export { renamed } from './renamed.ts'
export { flagOf, nameOf, numberOf, rowsPage, textOf } from './sql.ts'
export { startsActive } from './starts-active.ts'
export { type Path, path, type Query } from './url.ts'
