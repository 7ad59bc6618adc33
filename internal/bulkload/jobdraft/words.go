package jobdraft

import (
	"slices"
	"strings"
	"unicode"
)

// Usual names of columns, without case and punctuation, the most likely first.
var (
	// userWords name nothing but users. maybeUsers also name other things.
	userWords = []string{"userid", "user", "uid", "useruuid", "useridentifier", "accountid", "subscriberid", "subscriber", "customerid",
		"customer", "memberid", "playerid", "householdid", "visitorid", "visitor", "msisdn", "imsi", "openid", "unionid", "distinctid", "anonymousid",
		"whoid", "loginid", "username", "studentid", "learnerid", "enrollmentid", "actorlogin", "actorid",
		"用户id", "用户", "用户编号", "用户号", "用户名", "账号", "会员id", "会员", "会员编号", "会员号", "客户id", "客户编号", "学号",
		"usuario", "benutzer", "utilisateur", "kunde", "cliente"}
	maybeUsers = []string{"account", "member", "player", "household", "clientid", "client", "deviceid", "device", "stbid", "cookieid", "cookie",
		"who", "login", "email", "student", "learner", "actor", "userfullname", "person", "personid", "phone", "mobile", "手机号"}

	timeWords = []string{"time", "timestamp", "ts", "datetime", "eventtime", "eventtimestamp", "logtime", "when", "at", "occurredat", "happenedat",
		"starttime", "startedat", "started", "start", "begintime", "createdat", "createtime", "createdtime", "created", "date", "day", "eventdate", "dt",
		"时间", "日期", "开始时间", "操作时间", "行为时间", "发生时间", "浏览时间", "访问时间",
		"fecha", "hora", "datum", "zeit", "zeitpunkt", "heure"}

	kindWords = []string{"behaviour", "behavior", "behaviourtype", "behaviortype", "event", "eventname", "eventtype", "eventid", "action", "actiontype", "actionname",
		"activity", "activitytype", "activityname", "type", "kind", "op", "operation", "optype", "operationtype", "verb", "msgtype", "logtype",
		"行为", "行为类型", "事件", "事件名称", "事件类型", "操作", "操作类型", "动作", "动作类型", "类型",
		"evento", "accion", "acción", "tipo", "ereignis", "aktion", "typ", "évènement", "événement"}
)

// Words in the name of a column that show its content.
var (
	userParts = []string{"user", "uid", "userid", "visitor", "customer", "cust", "subscriber", "member", "player", "student", "learner", "account", "acct", "client", "buyer", "用户", "会员", "客户"}
	// notUsers are parts of names of columns whose IDs are not users.
	notUsers = []string{"ip", "session", "sess", "request", "req", "trace", "span", "event", "item", "product", "sku", "goods", "order", "transaction", "txn", "url", "uri",
		"page", "path", "referer", "referrer", "category", "cat", "brand", "seller", "shop", "store", "song", "artist", "movie", "film", "title", "query", "keyword", "host", "sensor", "agent",
		"hash", "file", "type", "level", "age", "gender", "sex", "role", "group", "city", "country", "province", "lang", "language", "status", "state", "version", "os", "browser", "platform", "channel",
		"course", "lesson", "video", "object", "source", "city", "region", "zip", "lat", "lon", "price", "amount", "count", "num", "quantity", "qty", "score", "rating", "duration", "seconds", "length",
		"商品", "订单", "品牌", "店铺", "课程", "类目", "金额", "价格", "数量", "城市", "省份"}
	// freeParts are parts of names of columns with texts that people write.
	freeParts = []string{"message", "msg", "text", "comment", "description", "desc", "note", "notes", "subject", "body", "reason", "remark", "error", "answer", "link"}
	// numberedUsers are words before the number of a user.
	numberedUsers = []string{"user", "usr", "visitor", "customer", "cust", "subscriber", "member", "player", "student", "learner", "account", "client", "person",
		"nutzer", "benutzer", "kunde", "mitglied", "spieler", "konto", "usuario", "cliente", "utilisateur", "membre", "用户", "会员", "客户", "学号"}
	kindParts = []string{"event", "action", "behavior", "behaviour", "act", "evt", "op", "verb", "activity", "operation", "行为", "事件", "动作"}
	// notKinds are parts of names of columns whose few texts are not behaviours. The first
	// kindSuffixes of them may follow a word of kindParts: action_id.
	notKinds = []string{"id", "name", "code", "label", "title", "rating", "score", "gender", "sex", "age", "level", "status", "state", "count", "num", "quantity", "qty", "month", "hour", "weekday", "dow", "year", "week",
		"version", "ver", "os", "device", "platform", "browser", "country", "city", "province", "region", "lang", "language", "currency", "ip", "method", "auth", "time", "date", "ts",
		"source", "src", "context", "value", "price", "channel", "brand", "category", "cat", "cate", "agent", "host", "server", "node", "sensor", "protocol", "is", "has", "flag", "group", "role",
		"user", "item", "product", "seller", "shop", "store", "target", "object", "size", "color", "genre", "payment", "carrier", "network", "model",
		"评分", "性别", "年龄", "等级", "状态", "数量", "城市", "省份", "品牌", "类目", "渠道", "平台"}
)

// kindSuffixes is the number of the first notKinds that may follow a word of kindParts.
const kindSuffixes = 5

// verbs are words of behaviours, in the texts of a column that names them.
var verbs = []string{"pv", "buy", "cart", "fav", "click", "view", "viewed", "play", "played", "pause", "paused", "seek", "stop", "stopped", "login", "logon", "logout", "logoff", "order",
	"ordered", "purchase", "purchased", "pay", "payment", "paid", "checkout", "add", "added", "addtocart", "remove", "removed", "delete", "deleted", "create", "created", "update", "updated", "search",
	"searched", "browse", "visit", "open", "opened", "close", "closed", "start", "started", "end", "ended", "finish", "finished", "submit", "submitted", "download", "upload", "share", "like", "liked",
	"follow", "followed", "comment", "post", "posted", "register", "registered", "signup", "signin", "upgrade", "downgrade", "cancel", "cancelled", "transaction", "push", "fork", "watch", "connect",
	"connected", "failed", "success", "command", "impression", "install", "uninstall", "launch", "send", "sent", "received", "receive", "navigate", "access", "problem", "video", "discussion", "wiki",
	"load", "loaded", "save", "saved", "rate", "rated", "review", "subscribe", "unsubscribe", "skip", "next", "home", "nextsong", "thumbs", "redeem", "redeemed", "refund", "return", "enter", "exit", "leave", "join",
	"read", "write", "edit", "edited", "reply", "vote", "page", "scroll", "swipe", "tap", "attempt", "attempted", "complete", "completed", "enrolled", "wishlist", "favorite", "favourite", "consume",
	"浏览", "点击", "收藏", "加购", "购物车", "购买", "下单", "支付", "登录", "登出", "退出", "播放", "暂停", "订购", "搜索", "评论", "分享", "下载", "上传", "注册", "签到", "提交", "查看", "访问", "关注", "退款", "充值", "观看"}

// plain returns a name without case and punctuation.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// hint returns the rank of a column's name among words; a smaller rank is more likely, and -1
// is no match. If a.b, the member of an object, does not match, hint compares b.
func hint(name string, words []string) int {
	if n := slices.Index(words, plain(name)); n >= 0 {
		return n
	}
	return slices.Index(words, plain(name[strings.LastIndexByte(name, '.')+1:]))
}

// tokens returns the words of a name in lower case: userAgent and user_agent have two.
func tokens(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			end()
		}
		word = append(word, r)
		lower = unicode.IsLower(r)
	}
	end()
	return out
}

// holds reports whether a name has one of words: as a word of its own, or, if it is not ASCII,
// anywhere.
func holds(name string, words []string) bool {
	parts := tokens(name)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(parts, w) || w[0] >= 0x80 && strings.Contains(name, w)
	})
}
