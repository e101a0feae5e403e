/**
 * Generates, from the contract, the functions that check what a handler returned and copy it. They run on the
 * isolate's own thread and are installed before any plugin code. A reply is therefore valid by construction,
 * whatever the guest has done to the built-ins.
 *
 * A writer reads each property of a guest's object once, checks that very value and puts it into a copy that
 * the guest never sees. The only code of the guest that it calls are getters, traps and `toJSON`. One
 * JSON.stringify then writes the whole copy: joining text from one call per string took twice as long
 * (test/bench/RESULTS.md). A value that does not fit the fast path leaves it (`slow`). worker/reply.ts then
 * checks the reply by the schema itself and makes a message for every finding. The two paths may differ in
 * speed, never in outcome (test/worker/writers.test.ts).
 */
import { CAPABILITIES, CAPABILITY_NAMES } from '../contract/capabilities/capabilities.ts'
import { LISTED_STATUSES } from '../contract/models/account.ts'
import { MAX_DEPTH } from '../contract/schema/depth.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import { SAME } from '../protocol/tables.ts'

/** Valibot schema, as far as a writer needs it. */
type Schema = {
  type: string
  entries?: Record<string, Schema>
  item?: Schema
  wrapped?: Schema
  default?: unknown
  options?: readonly unknown[]
  literal?: unknown
  pipe?: readonly { kind: string; type: string; metadata?: { jsonSchema?: FreeForm } }[]
}
type FreeForm = { additionalProperties?: object }

function inside(schema: Schema | undefined): Schema {
  if (schema === undefined) throw unwritable('a schema with nothing inside')
  return schema
}

/**
 * Common helpers of the writers. `p` is the argument from guest/writers.ts.
 *
 * A copy's member is set, not defined, because that is ten times as fast. Before it is set, nothing that the
 * guest can change may intercept it. `set` and `put` check that for one member. `bare` checks it for all
 * numbers at once: they come first among the keys, and no code of the guest runs until all are set. `free`
 * copies plain values; all others (`odd`) go through JSON.stringify and JSON.parse.
 *
 * `take` counts structural characters that the reply will certainly have (contract/limits/reply-limits.ts). Once
 * there are more than the call may have, copying ends (`over`): a page of millions of empty objects would take
 * seconds to copy and then be refused.
 */
const HELPERS = `'use strict';
const {parse,stringify,isArray,defineProperty,getPrototypeOf,ownKeys,ObjectPrototype,ArrayPrototype,indexOf,slow,over,leaveOut}=p;
const odd={__proto__:null};
let status,left;
function take(marks){if((left-=marks)<0)over()}
function text(x){if(typeof x!=='string')slow();return x}
function flag(x){if(x!==true&&x!==false)slow();return x}
function object(x){if(typeof x!=='object'||x===null||isArray(x)||typeof x.toJSON==='function')slow()}
function plain(x){const o=getPrototypeOf(x);if(o!==ObjectPrototype&&o!==null)slow()}
function list(x){if(!isArray(x)||typeof x.toJSON==='function')slow()}
function put(to,i,y){if(getPrototypeOf(ArrayPrototype)!==ObjectPrototype||i in ArrayPrototype)slow();to[i]=y}
function numbered(o){const k=ownKeys(o)[0];return typeof k==='string'&&''+(k>>>0)===k}
function bare(){if(getPrototypeOf(ArrayPrototype)!==ObjectPrototype||numbered(ArrayPrototype)||numbered(ObjectPrototype))slow()}
function set(to,k,y){
  if(k==='__proto__')slow();
  if(k in ObjectPrototype)defineProperty(to,k,{__proto__:null,value:y,enumerable:true});
  else to[k]=y}
function opens(t){
  if(t.length<2*${MAX_DEPTH})return false;
  let n=0;
  for(let i=0;i<t.length;i++)if((t[i]==='{'||t[i]==='[')&&++n>${MAX_DEPTH})return true;
  return false}
function free(x){
  if(typeof x!=='object'||x===null)slow();
  const l=left,y=isArray(x)?odd:members(x,1);
  if(y!==odd)return y;
  left=l;
  const t=stringify(x);
  if(t===undefined||t[0]!=='{'||indexOf(t,'"__proto__":')!==-1||opens(t))slow();
  return parse(t)}
function members(x,depth){
  if(depth>${MAX_DEPTH})slow();
  if(typeof x.toJSON==='function')return odd;
  const o=getPrototypeOf(x);
  if(o!==ObjectPrototype&&o!==null)return odd;
  const to={};
  let n=1;
  for(const k in x){
    const y=member(x[k],depth);
    if(y===odd)return odd;
    if(k==='__proto__'||y!==undefined){if(++n>left)over();set(to,k,y)}}
  take(n);
  return to}
function items(x,depth){
  if(depth>${MAX_DEPTH})slow();
  if(typeof x.toJSON==='function')return odd;
  const n=x.length,to=[];
  if(typeof n!=='number'||n%1!==0)return odd;
  take(n);
  for(let i=0;i<n;i++){
    const y=member(x[i],depth);
    if(y===odd)return odd;
    put(to,i,y===undefined?null:y)}
  return to}
function member(y,depth){
  switch(typeof y){
    case'string':case'boolean':case'number':return y;
    case'object':return y===null?null:isArray(y)?items(y,depth+1):members(y,depth+1);
    case'undefined':case'symbol':return undefined;
    default:return odd}}
function texts(x){
  object(x);plain(x);
  const to={};
  for(const k in x){
    const y=x[k];
    if(typeof y!=='string')slow();
    set(to,k,y)}
  return to}
function some(t,read){if(read!==null)for(const k in t)if(!has(read,k))t[k]=undefined;return t}
function has(names,k){for(let i=0;i<names.length;i++)if(names[i]===k)return true;return false}
function written(y){
  if(getPrototypeOf(ArrayPrototype)!==ObjectPrototype||'toJSON' in ArrayPrototype)slow();
  return stringify(y)}`

/**
 * Returns the script that passes the writers to the prelude. It runs after the prelude and before the plugin.
 */
export function writersSource(): string {
  const names = new Map<Schema, string>()
  const functions: string[] = []

  /** Returns the name of the function that writes a schema. Equal schemas share a writer. */
  function writer(schema: Schema): string {
    const known = names.get(schema) ?? simple(schema)
    if (known !== null) return known
    const name = `w${functions.length}`
    const place = functions.push('') - 1
    names.set(schema, name)
    functions[place] = `function ${name}(x){${body(schema)}}`
    return name
  }

  function body(schema: Schema): string {
    switch (schema.type) {
      case 'strict_object':
        return objectBody(schema.entries ?? {}, writer)
      case 'array':
        return arrayBody(writer(inside(schema.item)), '')
      case 'nullish':
        if (schema.default !== null) throw unwritable('a default other than null')
        return `return x===undefined||x===null?null:${writer(inside(schema.wrapped))}(x)`
      case 'picklist':
        return choiceBody(schema.options ?? [])
      case 'literal':
        return choiceBody([schema.literal])
      default:
        throw unwritable(`the kind ${schema.type}`)
    }
  }

  function listed(schema: Schema): string {
    functions.push(`function listed(x){${arrayBody(writer(inside(schema.item)), LEAVE_OUT)}}`)
    return 'listed'
  }

  const rows: string[] = []
  const tables: string[] = []
  for (const name of CAPABILITY_NAMES) {
    const output: AnySchema = CAPABILITIES[name].output
    const schema: Schema = output
    const copy = name === 'list_accounts' ? listed(schema) : writer(schema)
    rows.push(`${name}(x,read,most){left=most;return written(${copy}(x))}`)
    const columns = columnsOf(schema)
    if (columns === null) continue
    const table = `t${functions.length}`
    functions.push(`function ${table}(x){${tableBody(columns.map(([column]) => column))}}`)
    tables.push(
      `${name}(x,read,most){left=(${counted(columns)})?most:1/0;return written(some(${table}(${copy}(x)),read))}`,
    )
  }
  const made = `return {__proto__:null,rows:{__proto__:null,${rows.join(',')}},tables:{__proto__:null,${tables.join(',')}}}`
  const all = [HELPERS, ...functions, made]
  return `__keyway.install(function(p){${all.join('\n')}});`
}

/**
 * Accounts that are left out: all except active and suspended ones and those without a status (service.md
 * section 4.1). Their values are not counted.
 */
const LEFT_OUT = `status!==undefined&&status!==null&&${LISTED_STATUSES.map((one) => `status!==${JSON.stringify(one)}`).join('&&')}`
const LEAVE_OUT = `if(${LEFT_OUT}){leaveOut();left=l;continue}`

/** Returns the name of a writer that needs no function of its own, or null. */
function simple({ type, pipe = [] }: Schema): string | null {
  const actions = pipe.filter(({ kind }) => kind === 'validation' || kind === 'transformation')
  if (type === 'custom') {
    const form = pipe.find(({ metadata }) => metadata?.jsonSchema)?.metadata?.jsonSchema
    if (!form) throw unwritable('a custom schema without jsonSchema')
    return form.additionalProperties ? 'texts' : 'free'
  }
  if (actions.length > 0) throw unwritable(`the check ${actions[0]?.type}`)
  if (type === 'string') return 'text'
  return type === 'boolean' ? 'flag' : null
}

/**
 * Every key is one of the contract's, and there are as many keys as members with a value. So each of them is
 * an own, enumerable member, as JSON.stringify would see it. Every other case (a class, a member that is
 * `undefined`, one that is not enumerable) takes the slow path.
 */
function objectBody(entries: Record<string, Schema>, writer: (schema: Schema) => string): string {
  const members = Object.entries(entries)
  const read = members.map(([name], index) => `v${index}=x.${name}`).join(',')
  const present = members.map((_, index) => `(v${index}!==undefined)`).join('+')
  const copied = members.map(([name, schema], index) => `${name}:${writer(schema)}(v${index})`)
  const status = members.findIndex(([name]) => name === 'user_status')
  const unknown = members.map(([name]) => `k!=='${name}'`).join('&&')
  return [
    `object(x);plain(x);let n=0;for(const k in x){n++;if(${unknown})slow()}`,
    `const ${read};`,
    `if(n!==0+${present})slow();`,
    status === -1 ? '' : `status=v${status};if(${LEFT_OUT})left=1/0;`,
    `return {${copied.join(',')}}`,
  ].join('')
}

const arrayBody = (item: string, unless: string): string => {
  const [before, each] = unless === '' ? ['take(n);', ''] : ['', 'take(1);']
  return `list(x);const n=x.length,to=[];let m=0;${before}for(let i=0;i<n;i++){const l=left,y=${item}(x[i]);${unless}${each}put(to,m++,y)}return to`
}

/**
 * Returns the members of the listed objects, with their schemas, if they fit into a table (protocol/tables.ts),
 * that is if none is a number. Else returns null.
 */
function columnsOf({ type, item }: Schema): [string, Schema][] | null {
  if (type !== 'array' || item?.type !== 'strict_object') return null
  const entries = Object.entries(item.entries ?? {})
  return entries.every(([, one]) => !mayBeNumber(one)) ? entries : null
}

/**
 * Returns the condition under which the values of a table are counted. Columns that are not read are copied but
 * not written, and must not count.
 */
const counted = (columns: readonly [string, Schema][]): string => {
  const composite = columns.filter(([, schema]) => isComposite(schema))
  const read = composite.map(([name]) => `has(read,'${name}')`).join('&&')
  return read === '' ? 'read===null' : `read===null||${read}`
}

/** Reports whether values of a schema contain others. */
const isComposite = ({ type, wrapped }: Schema): boolean =>
  wrapped === undefined ? ['strict_object', 'array', 'custom'].includes(type) : isComposite(wrapped)

const mayBeNumber = ({ type, wrapped, options = [], literal }: Schema): boolean =>
  type === 'number' ||
  (wrapped !== undefined && mayBeNumber(wrapped)) ||
  [...options, literal].some((one) => typeof one === 'number')

/** Turns copied rows into one list per member. */
const tableBody = (names: readonly string[]): string =>
  [
    'bare();const n=x.length;let b={__proto__:null};',
    names.map((_, n) => `const c${n}=[];`).join(''),
    'for(let i=0;i<n;i++){const y=x[i];',
    names.map((name, n) => `c${n}[i]=y.${name}===b.${name}?${SAME}:y.${name};`).join(''),
    `b=y}return {${names.map((name, n) => `${name}:c${n}`).join(',')}}`,
  ].join('')

const choiceBody = (options: readonly unknown[]): string =>
  `${options.map((one) => `if(x===${JSON.stringify(one)})return x;`).join('')}slow()`

const unwritable = (what: string): Error =>
  new Error(`worker/writers.ts cannot write ${what}: teach it, or keep the reply simpler`)
