// Runs in mongosh before `tallyport migrate`: the user of MONGODB_URI gets the rights on the database of that address, and
// no others. It may run at any time, also while the processes work.
const { readFileSync } = require('node:fs');

const application = new URL(process.env.MONGODB_URI);
const user = decodeURIComponent(application.username);
const password = decodeURIComponent(application.password);
const database = application.pathname.slice(1);
const rootPassword = readFileSync('/data/configdb/root-password', 'utf8').trim();
// dbAdmin: a restore changes options of collections.
const roles = [
  { role: 'readWrite', db: database },
  { role: 'dbAdmin', db: database },
];

const AUTHENTICATION_FAILED = 18;

/** The database `admin` as this user sees it; null with a wrong password or an unknown user. */
function signIn(name, secret) {
  try {
    // Not returned at once: mongosh would wait for the connection outside of `try`.
    const admin = connect(`mongodb://${name}:${encodeURIComponent(secret)}@${application.host}/admin`);
    return admin;
  } catch (error) {
    if (error.code === AUTHENTICATION_FAILED) return null;
    throw error;
  }
}

/** Data of an earlier Compose file: there the application's user was root. It makes `root` and loses its rights below. */
function becomeRoot() {
  const earlier = signIn(encodeURIComponent(user), password);
  if (!earlier) {
    throw new Error(
      `Neither root (with the password in /data/configdb/root-password) nor ${user} (with MONGODB_PASSWORD) can sign in to MongoDB. See "Compose" in docs/operating/install.md.`,
    );
  }
  earlier.createUser({ user: 'root', pwd: rootPassword, roles: ['root'] });
  return signIn('root', rootPassword);
}

const admin = signIn('root', rootPassword) ?? becomeRoot();
if (admin.getUser(user)) admin.updateUser(user, { pwd: password, roles });
else admin.createUser({ user, pwd: password, roles });
print(`${user} may read and write the database ${database}, and nothing else.`);
