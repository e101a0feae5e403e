/** Spend records: connector-interface.md section 2.9. The inner objects are not specified there. */
import * as v from 'valibot'
import { described, freeObject, nullable, strictObject } from '../schema/schemas.ts'

export const Expense = strictObject('Expense', 'One expense', {
  id: v.string(),
  transaction_date: described(v.string(), 'ISO 8601'),
  total_amount: freeObject(),
  seller: freeObject(),
  description: v.string(),
  submitter: freeObject(),
  type: v.picklist(['reimbursement', 'card_transaction']),
  approval_status: freeObject(),
  payment_status: freeObject(),
  report_id: nullable(v.string()),
  payment_date: nullable(v.string()),
  paid_amount: nullable(freeObject()),
  url: nullable(v.string()),
  attributes: nullable(freeObject()),
  custom_attributes: nullable(freeObject()),
})
