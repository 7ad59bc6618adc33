# shellcheck shell=bash disable=SC2154 # scripts/cluster sets the variables
# The secured cluster: a KDC, certificates, and the settings of the servers. scripts/cluster
# sources this file.
#
#   principals   nn/ADDRESS, dn/ADDRESS, hbase/HOST, HTTP/localhost, zookeeper/ADDRESS, rm/ADDRESS,
#                nm/ADDRESS; the users admin (superuser of HDFS and HBase), alice, bob and mallory
#   kdc/         NAME.keytab of each; NAME.ccache of each user, valid for a day
#   tls/         ca.pem; server.{pem,pkcs12}; client.{pem,pkcs12}, of alice; trust.{pem,pkcs12};
#                the password of all stores is changeit; PEM files have none
realm=CLUSTER.TEST

secured() { [ "$secure" != no ]; }

# secured_wanted reads the settings of a secured cluster from the environment.
secured_wanted() {
	secure=${CLUSTER_SECURE:-no}
	case $secure in
	no) protection='' aes=no tls=no tls_kind='' tls_client='' zk_sasl=no names=no ;;
	yes) protection=authentication,integrity,privacy aes=yes tls=optional tls_kind=pkcs12 tls_client=WANT zk_sasl=no names=no ;;
	strict) protection=privacy aes=no tls=required tls_kind=pem tls_client=NEED zk_sasl=yes names=yes ;;
	*) die "CLUSTER_SECURE must be no, yes or strict" ;;
	esac
	! secured || {
		protection=${CLUSTER_PROTECTION:-$protection} aes=${CLUSTER_AES:-$aes} tls=${CLUSTER_TLS:-$tls}
		tls_kind=${CLUSTER_TLS_KIND:-$tls_kind} tls_client=${CLUSTER_TLS_CLIENT:-$tls_client}
		zk_sasl=${CLUSTER_ZK_SASL:-$zk_sasl} names=${CLUSTER_NAMES:-$names}
	}
}

# host NAME prints the host name that a server announces.
host() {
	case $1 in
	rs[1-9]) [ "$names" = yes ] && echo "$1.cluster.test" || ip "$1" ;;
	*) ip "$1" ;;
	esac
}

# principals prints KEYTAB=PRINCIPAL for each principal.
principals() {
	local i
	echo "nn=nn/$(ip nn)" "HTTP=HTTP/localhost" "zookeeper=zookeeper/$(ip zk)" "hbase=hbase/$(ip master)" "rm=rm/$(ip rm)" "nm=nm/$(ip nm)"
	for ((i = 1; i <= datanodes; i++)); do echo "dn=dn/$(ip "dn$i")"; done
	for ((i = 1; i <= regionservers; i++)); do echo "hbase=hbase/$(host "rs$i")"; done
	printf '%s\n' admin=admin alice=alice bob=bob mallory=mallory
}

# configure_secure adds the settings of a secured cluster to conf/.
configure_secure() {
	local name
	for name in core hdfs hbase; do add_properties "$name-site" "conf/$name-site.xml"; done
	[ "$tls" = no ] || add_properties hbase-tls conf/hbase-site.xml
	substitute "$source/secure/krb5.conf" >"$dir/conf/krb5.conf"
	substitute "$source/secure/ssl-server.xml" >"$dir/conf/ssl-server.xml"
	# Java resolves only these names, and asks no name service.
	{
		echo "127.0.0.1 localhost $(hostname)"
		[ "$names" != yes ] || for ((i = 1; i <= regionservers; i++)); do echo "$(ip "rs$i") $(host "rs$i")"; done
	} >"$dir/conf/hosts"
	kerberos_flags >>"$dir/conf/jvm.opts"
	if [ "$zk_sasl" = yes ]; then
		add_properties hbase-zksasl conf/hbase-site.xml
		cat "$source/secure/zoo-sasl.cfg" >>"$dir/conf/zoo.cfg"
		substitute "$source/secure/zk.jaas" >"$dir/conf/zk.jaas"
	fi
	certificates
}

# configure_secure_yarn adds the settings of a secured cluster to yarn/.
configure_secure_yarn() {
	local name
	for name in yarn mapred; do add_properties "$name-site" "yarn/etc/hadoop/$name-site.xml"; done
}

# kerberos_flags prints the Java flags of all programs that use Kerberos.
kerberos_flags() { printf '%s\n' "-Djava.security.krb5.conf=$dir/conf/krb5.conf" "-Djdk.net.hosts.file=$dir/conf/hosts"; }

# add_properties PART FILE: a later value of a property replaces an earlier one.
add_properties() {
	local file=$dir/$2
	sed -i '/<\/configuration>/d' "$file"
	substitute "$source/secure/$1.xml" >>"$file"
	echo '</configuration>' >>"$file"
}

# secure_values prints the commands of sed that fill the templates.
secure_values() {
	local suites='' plain=true servers=false password=changeit kerberos=''
	! secured || kerberos=$(kerberos_flags | paste -sd' ')
	[ "$aes" = no ] || suites=AES/CTR/NoPadding
	[ "$tls" != required ] || plain=false servers=true
	[ "$tls_kind" != pem ] || password= # otherwise HBase expects an encrypted key
	echo "s#@REALM@#$realm#g; s#@PROTECTION@#$protection#g; s|@SUITES@|$suites|g; s#@KERBEROS@#$kerberos#g; s#@TLS_PLAIN@#$plain#g; s#@TLS_SERVERS@#$servers#g"
	echo "s#@TLS_KIND@#$tls_kind#g; s#@TLS_CLIENT@#$tls_client#g; s#@TLS_PASSWORD@#$password#g"
}

# certificates makes an authority, one key for all servers, and one key for a client on the loopback.
certificates() {
	local i names="DNS:localhost,IP:127.0.0.1,IP:$(ip master)"
	command -v openssl >/dev/null || debian openssl
	for ((i = 1; i <= 9; i++)); do names+=,IP:$(ip "rs$i"),IP:$(ip "dn$i"),DNS:rs$i.cluster.test; done
	rm -rf "$dir/tls"
	mkdir -m 700 -p "$dir/tls"
	(
		cd "$dir/tls"
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=cluster' -keyout ca.key -out ca.pem
		certificate server server "$names"
		certificate client alice DNS:localhost,IP:127.0.0.1
		cp ca.pem trust.pem
		keytool -importcert -noprompt -alias ca -file ca.pem -storetype PKCS12 -keystore trust.pkcs12 -storepass changeit
	) >"$dir/log/certificates.log" 2>&1 || { tail -n 25 "$dir/log/certificates.log" >&2; die "the certificates cannot be made"; }
}

# certificate FILE NAME ALTERNATIVE-NAMES makes a key and a certificate.
certificate() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile <(echo "subjectAltName=$3") -out "$1.crt"
	cat "$1.key" "$1.crt" >"$1.pem"
	openssl pkcs12 -export -inkey "$1.key" -in "$1.crt" -name "$1" -passout pass:changeit -out "$1.pkcs12"
}

# start_kdc makes all keys, so it comes before all other daemons. A KDC that starts again has the
# keys of the keytabs.
start_kdc() {
	local all
	mkdir -m 700 -p "$dir/kdc"
	rm -f "$dir/kdc/ready"
	# shellcheck disable=SC2207 # words without blanks
	all=($(principals))
	daemon kdc 128m hbase "$source/java/Kdc.java" "$realm" "$(ip kdc)" 18888 "$dir/kdc" "${all[@]}"
	await kdc 'the keys' test -e "$dir/kdc/ready"
	chmod 600 "$dir"/kdc/*.keytab
}

# homes makes the directories that HBase and the users need.
homes() {
	local log=$dir/log/homes.log
	await nn "HDFS out of safe mode with $datanodes DataNodes" hdfs_serves
	(tool hadoop "$source/java/Homes.java" "nn/$(ip nn)" "$dir/kdc/nn.keytab" /hbase=hbase=755 /tmp=admin=1777 /test=admin=1777 \
		/user=admin=755 /user/alice=alice=700 /user/bob=bob=700 /user/mallory=mallory=700) >"$log" 2>&1 || { tail -n 25 "$log" >&2; die "the directories on HDFS cannot be made"; }
}

# ticket chooses the ticket of CLUSTER_AS for Java's tools.
ticket() { ! secured || export KRB5CCNAME=$dir/kdc/${CLUSTER_AS:-admin}.ccache; }

# secure_flags NAME prints the Java flags that only this daemon has.
secure_flags() {
	[ "$1" != zk ] || [ "$zk_sasl" = no ] || echo "-Djava.security.auth.login.config=$dir/conf/zk.jaas"
}
