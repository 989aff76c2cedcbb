/** Verbs that messages of commits begin with. */
export const verbs = [
  "Add",
  "Fix",
  "Speed up",
  "Simplify",
  "Remove",
  "Rework",
  "Test",
  "Log",
  "Retry",
  "Cache",
];

/** What messages of commits say was changed. */
export const things = (
  "address form,basket total,retry of payments,session timeout,image sizes,search index,import of prices,error page," +
  "health check,rate limit,receipt mail,password reset,stock levels,feature flags,product filter,tax rules,order export," +
  "login page,audit trail,connection pool"
).split(",");

/** Ends of messages of commits, often empty. */
export const reasons = [
  "",
  "",
  "",
  " for guests",
  " on slow networks",
  " in the evening peak",
  " after the audit",
];
